"""The page of `paraform demo`, as a Space of Hugging Face runs it."""

import os

from paraform.demo.server import serve

serve("0.0.0.0", int(os.environ.get("PORT", "7860")), framed_by="https://huggingface.co https://*.hf.space")
