"""What trains each system: texts or pairs in, a folder with a trained model out."""
