# The service and its command line: Node.js with the libraries it is linked with, the built modules and their
# production dependencies. No shell, no package manager. Needs no BuildKit. How to build and run it: docs/deployment.md.

# To build again and again from the same base, name it by digest.
ARG NODE_IMAGE=node:24-bookworm-slim

# The manifests alone: only a change of theirs has packages installed again.
FROM ${NODE_IMAGE} AS manifests
WORKDIR /app
COPY . .
RUN find . -type f ! -name package.json ! -name 'pnpm-*.yaml' -delete && find . -type d -empty -delete

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY --from=manifests /app ./
RUN npm install --global --no-audit --no-fund "$(node --print 'require("./package.json").packageManager')"
# --trust-lockfile: it is the repository's own.
RUN pnpm install --prod --frozen-lockfile --trust-lockfile \
    --filter-prod '@animal-store/http...' --filter-prod '@animal-store/cli...'

FROM dependencies AS build
RUN pnpm install --frozen-lockfile --trust-lockfile \
    --filter animal-store --filter-prod '@animal-store/http...' --filter-prod '@animal-store/cli...'
COPY . .
RUN node_modules/.bin/tsc --build apps/http/tsconfig.build.json apps/cli/tsconfig.build.json && mkdir /built \
    && find apps packages \( -name node_modules -o -name src -o -name 'tsconfig*.json' \) -prune \
      -o -type f -exec cp --parents --target-directory=/built {} +

# Without what only developers need: declarations, source maps, packages for tests, pnpm's records, a second Node.js.
FROM dependencies AS app
COPY LICENSE ./
COPY --from=build /built ./
RUN find . -type f \( -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.map' -o -name .tsbuildinfo \) -delete \
    && rm -rf package.json pnpm-*.yaml node_modules/.modules.yaml node_modules/.pnpm-workspace-state-v1.json \
      node_modules/.pnpm/lock.yaml node_modules/node-linux-* node_modules/.pnpm/node-linux-* \
    && find packages -mindepth 1 -maxdepth 1 ! -exec test -d '{}/dist' ';' -exec rm -rf {} + \
    && find . -depth -type d -name .bin -exec rm -rf {} + && find . -type d -empty -delete

# Node.js and its libraries. Their packages' records stay for those who scan images, and their licences.
FROM ${NODE_IMAGE} AS system
RUN mkdir -p /data /system/etc /system/var/lib/dpkg \
    && ldd /usr/local/bin/node | grep -o '/[^ ]*' \
      | xargs cp --parents --dereference --target-directory=/system /usr/local/bin/node \
    && find /usr/local -maxdepth 1 -name LICENSE -exec cp --parents --target-directory=/system {} + \
    && cp --parents --dereference --target-directory=/system /etc/os-release /usr/share/doc/libc6/copyright \
      /usr/share/doc/libgcc-s1/copyright /usr/share/doc/libstdc++6/copyright \
    && dpkg-query --status libc6 libgcc-s1 libstdc++6 >/system/var/lib/dpkg/status \
    && for file in passwd group; do grep -E '^(root|node):' "/etc/$file" >"/system/etc/$file"; done

FROM scratch
COPY --from=system /system /
COPY --from=app /app /app
# A volume here belongs to the service's user.
COPY --from=system --chown=1000:1000 /data /data
WORKDIR /app
ENV PATH=/usr/local/bin NODE_ENV=production HOST=0.0.0.0
USER 1000:1000
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "apps/http/dist/main.js"]
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Animal Store" \
      org.opencontainers.image.description="A catalogue of animals over HTTP" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
