# docker build -t titer . && docker run --rm titer run gpt3-175b-64xa100
# docker run --rm -p 127.0.0.1:8080:8080 titer serve --host 0.0.0.0
FROM debian:12-slim AS build
COPY . /titer
RUN cd /titer && scripts/make_packages.sh

FROM debian:12-slim
COPY --from=build /titer/build-package/titer_*.deb /root/
RUN apt-get update && apt-get install -y --no-install-recommends /root/titer_*.deb \
    && rm -rf /root/titer_*.deb /var/lib/apt/lists/*
USER nobody
EXPOSE 8080
ENTRYPOINT ["titer"]
CMD ["--help"]
