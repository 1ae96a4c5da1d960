from .checkpoint import load as load
from .checkpoint import save as save
from .corpora import clusters as clusters
from .corpora import read as read
from .corpora import write_jsonl as write_jsonl
from .encoders import Encoder as Encoder
from .evaluation import (
    GenerationRow as GenerationRow,
)
from .evaluation import (
    Score as Score,
)
from .evaluation import (
    evaluate_generation as evaluate_generation,
)
from .evaluation import (
    evaluate_style as evaluate_style,
)
from .evaluation import (
    evaluate_syntax as evaluate_syntax,
)
from .evaluation.latent import evaluate_latent as evaluate_latent
from .models.exemplar import ExemplarConfig as ExemplarConfig
from .models.exemplar import ExemplarParaphraser as ExemplarParaphraser
from .models.latent import LatentConfig as LatentConfig
from .models.latent import LatentLanguageModel as LatentLanguageModel
from .records import InputError as InputError
from .records import Pair as Pair
from .records import Sentence as Sentence
from .records import Triple as Triple
from .syntax import ExemplarIndex as ExemplarIndex
from .syntax import MiningConfig as MiningConfig
from .syntax import Tree as Tree
from .syntax import mine as mine
from .syntax.parsing import load_parser as load_parser
from .syntax.tagging import load_tagger as load_tagger
from .trainers.exemplar import train_exemplar as train_exemplar
from .trainers.latent import train_latent as train_latent
from .training import TrainingConfig as TrainingConfig
from .version import __version__ as __version__
from .words import detokenize as detokenize
from .words import tokenize as tokenize
