"""What `make demo` shows, by the command line: sentences in other words, like others, as vectors and as a space."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

# From Quora, as the CRL-EGPG paper prints them in its Tables 1, 4 and 8: sources, then sentences whose form to take.
FOLLOWERS = "what is the easiest way to get followers on quora ?"
SKILLS = "how do i develop good project management skills ?"
PLAGIARISM = "how do i avoid plagiarism in my article ?"
LAPTOP = "which is the best laptop model to buy within 30k ?"
CHARTERED = "which subjects are important to become a chartered accountant ?"
EARN = "how can i earn from online ?"

ORDINARY = (
    "Can I use my card abroad?",
    "I haven't received the PIN yet.",
    "Turn off the lights in the hall before you go to bed.",
    "Great value for the price and it arrived a day early.",
    "Wo ist meine Karte geblieben?",
)

# The first two say one thing in other words; the third shares most words with the first and says another.
SENTENCES = ["How can I lose weight fast?", "What is the quickest way to slim down?", "How can I lose money fast?"]

ENDS = ("What is your first name?", "I want to go there.")  # of sentences that it has not seen


def main() -> None:
    title("1. Say it in other words; what cannot be said well is left out")
    run("paraphrase", *ORDINARY)

    title("2. Every rewording is checked")
    run("paraphrase", ORDINARY[0], "--json")

    title("3. Say this, like that; one question, three forms")
    run("paraphrase", FOLLOWERS, "--like", PLAGIARISM)
    run("paraphrase", SKILLS, "--like", LAPTOP, CHARTERED, EARN, "--each")

    title("4. Sentences as vectors: cosine 1 is the same")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sentences.txt").write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
        run("embed", "sentences.txt", "--model", "minilm", "--out", "vectors.npy", inside=folder)
        vectors = np.load(Path(folder, "vectors.npy"))
    cosines = vectors @ vectors.T
    for row, text in zip(cosines, SENTENCES, strict=True):
        print("  ", " ".join(f"{cosine:5.2f}" for cosine in row), "", text)

    title("5. A space of sentences: the way from one to another")
    run("interpolate", *ENDS, "--steps", "7")

    print("\nYour turn:  .venv/bin/paraform paraphrase 'YOUR QUESTION ?' --num 3")
    print("In the browser:  .venv/bin/paraform demo --open")


def title(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}", flush=True)


def run(command: str, *arguments: str, inside: str | None = None) -> None:
    """Show the command as a person would type it, then what it prints."""
    print("$", shlex.join(["paraform", command, *arguments]), flush=True)
    done = subprocess.run([Path(sys.executable).with_name("paraform"), command, *arguments], cwd=inside)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
