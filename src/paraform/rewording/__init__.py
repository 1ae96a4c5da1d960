"""Say a text in other words: candidates, what each must keep of its source, and which is best."""
