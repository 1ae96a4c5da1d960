# `paraform serve` for processors, which asks no network once it is built:
#   docker build -t paraform .
#   docker run --rm --read-only -p 8000:8000 -e PARAFORM_KEY paraform
FROM python:3.11-slim AS made
# torch's build for processors alone: the registry's brings gigabytes of CUDA along (for a GPU: --build-arg TORCH_INDEX=).
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ENV PIP_EXTRA_INDEX_URL=$TORCH_INDEX PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
ENV PATH=/opt/paraform/bin:$PATH PARAFORM_CACHE=/var/cache/paraform
RUN python -m venv /opt/paraform
WORKDIR /source
# As the Makefile has it: torch first and alone.
COPY constraints.txt ./
RUN pip install -qq -c constraints.txt torch==2.13.0
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip install -qq -c constraints.txt '.[offline,demo]'
RUN paraform fetch smollm2

FROM python:3.11-slim
RUN useradd --uid 1000 --no-create-home paraform
COPY --from=made /opt/paraform /opt/paraform
COPY --from=made --chown=1000 /var/cache/paraform /var/cache/paraform
ENV PATH=/opt/paraform/bin:$PATH PARAFORM_CACHE=/var/cache/paraform HF_HUB_OFFLINE=1 PYTHONUNBUFFERED=1
# Else torch wants to make a folder in /tmp when a language model is loaded, which a root that is read-only refuses.
ENV TORCHINDUCTOR_CACHE_DIR=/tmp
USER 1000
EXPOSE 8000
# Without a proxy that the container may be told of.
HEALTHCHECK --start-period=60s --timeout=5s CMD ["python", "-c", "from urllib.request import ProxyHandler, build_opener; build_opener(ProxyHandler({})).open('http://127.0.0.1:8000/health', timeout=4)"]
CMD ["paraform", "serve", "--host", "0.0.0.0", "--port", "8000"]
