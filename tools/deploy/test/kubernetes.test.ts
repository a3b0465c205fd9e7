import { readdirSync, readFileSync } from 'node:fs';
import { freshFile } from '@animal-store/test-kit/fresh-folder';
import { startService } from '@animal-store/test-kit/service';
import { expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { configurationOf, expectEnough, IMAGE_ENVIRONMENT, withSecrets } from './environment.ts';
import { MONITORING, promtool } from './programs.ts';

const folder = new URL('../kubernetes/', import.meta.url);
const { 'kustomization.yaml': kustomization, ...files } = Object.fromEntries(
  readdirSync(folder).map((name) => [name, parse(readFileSync(new URL(name, folder), 'utf8'))]),
);
const manifests = Object.values(files);

/** The one manifest of a kind. */
function the(kind: string) {
  const found = manifests.filter((manifest) => manifest.kind === kind);
  expect(found, kind).toHaveLength(1);
  return found[0];
}

const deployment = the('Deployment').spec;
const pod = deployment.template.spec;
const [container] = pod.containers;
const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];

/** The variables of the container. */
const environment: Readonly<Record<string, string>> = the('ConfigMap').data;

/** The files of the Secret that docs/deployment.md makes, with examples. */
const [{ mountPath }] = container.volumeMounts;
const SECRETS = {
  [`${mountPath}/MONGODB_URL`]: 'mongodb://animals:secret@db-0.example,db-1.example/animals?replicaSet=rs0',
  [`${mountPath}/POSTGRES_URL`]: 'postgres://animals:secret@db.example/animals',
  [`${mountPath}/API_KEYS`]: `sha256:${'0'.repeat(64)}`,
};

const configuration = (patch: object = {}) =>
  configurationOf({ ...IMAGE_ENVIRONMENT, ...environment, ...patch }, SECRETS);

test('the kustomization applies every manifest, and each reference by name has its target', () => {
  expect(kustomization.resources.toSorted()).toEqual(Object.keys(files).sort());
  const name = (kind: string) => the(kind).metadata.name;
  expect(kustomization.namespace).toBe(name('Namespace'));
  expect(pod.serviceAccountName).toBe(name('ServiceAccount'));
  expect(container.envFrom).toEqual([{ configMapRef: { name: name('ConfigMap') } }]);
  expect(the('HorizontalPodAutoscaler').spec.scaleTargetRef).toMatchObject({
    kind: 'Deployment',
    name: name('Deployment'),
  });
  expect(kustomization.images.map((image: { name: string }) => image.name)).toEqual([container.image]);
});

const example = readFileSync(new URL('../cluster/kustomization.yaml', import.meta.url), 'utf8');

test.each([
  ['mongodb', 27017, example],
  ['postgres', 5432, example.replaceAll(/^# (?= )/gm, ' ')],
])('the example of a cluster configures a service on %s, and lets it reach port %i', (name, port, text) => {
  const { images, patches } = parse(text);
  expect(images.map((image: { name: string }) => image.name)).toEqual([container.image]);
  const contents = patches.map(({ patch }: { patch: string }) => parse(patch));
  const data = Object.assign({}, ...contents.map((content: { data?: object }) => content.data));
  expect(configuration(data).storage.name).toBe(name);
  const policy = structuredClone(the('NetworkPolicy'));
  for (const { op, path, value } of contents.flat()) {
    if (op !== 'replace') continue;
    const names: string[] = path.slice(1).split('/');
    const last = names.pop() as string;
    names.reduce((part, name) => part[name], policy)[last] = value;
  }
  expect(policy.spec.egress.at(-1).ports).toEqual([{ port }]);
});

const scraping = parse(readFileSync(new URL('scrape.yaml', MONITORING), 'utf8'));
const [job] = scraping.scrape_configs;

test('scrape.yaml finds the namespace, for the job of the alerts', () => {
  expect(readFileSync(new URL('alerts.yaml', MONITORING), 'utf8')).toContain(`{job="${job.job_name}"}`);
  expect(job.kubernetes_sd_configs[0].namespaces.names).toEqual([the('Namespace').metadata.name]);
});

test.skipIf(inject('missing').includes('promtool'))(
  'Prometheus scrapes the port of the metrics alone, of pods that have not ended, and names instances by their pods',
  () => {
    const phases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];
    const pods = phases.flatMap((phase) =>
      container.ports.map(({ name, containerPort }: { name: string; containerPort: number }) => ({
        targets: [`10.0.0.1:${containerPort}`],
        labels: {
          __meta_kubernetes_pod_container_port_name: name,
          __meta_kubernetes_pod_name: `pod-${phase}`,
          __meta_kubernetes_pod_phase: phase,
        },
      })),
    );
    // Debian's promtool does not know Kubernetes.
    const { kubernetes_sd_configs: _, ...rules } = job;
    const configuration = { ...scraping, scrape_configs: [{ ...rules, static_configs: pods }] };
    const file = freshFile('prometheus.yaml', JSON.stringify(configuration));
    const { status, output } = promtool('check', 'service-discovery', '--timeout=1s', file, job.job_name);
    expect(status, output).toBe(0);
    const found: { labels: Record<string, string> }[] = JSON.parse(output);
    const scraped = found.filter(({ labels }) => labels['__address__'] !== undefined);
    expect(scraped.map(({ labels }) => `${labels['instance']} ${labels['__address__']}`).sort()).toEqual(
      ['Pending', 'Running', 'Unknown'].map((phase) => `pod-${phase} 10.0.0.1:3000`),
    );
  },
);

test('every selector selects the pods of the Deployment', () => {
  const { labels } = deployment.template.metadata;
  const selectors = [
    deployment.selector.matchLabels,
    the('Service').spec.selector,
    the('PodDisruptionBudget').spec.selector.matchLabels,
    the('NetworkPolicy').spec.podSelector.matchLabels,
    ...pod.topologySpreadConstraints.map(
      (spread: { labelSelector: { matchLabels: object } }) => spread.labelSelector.matchLabels,
    ),
  ];
  for (const selector of selectors) expect(selector).toEqual(labels);
});

test('the manifests configure a service on MongoDB, with a key or without', () => {
  const { configuredKeys, HOST, storage } = configuration();
  expect([HOST, storage.name, configuredKeys.size]).toEqual(['::', 'mongodb', 1]);
  expect(configuration({ API_KEYS_FILE: '' }).configuredKeys.size).toBe(0);
});

test('the manifests allow the memory that MAX_CONNECTIONS needs, and the time of a graceful stop', () => {
  const seconds = pod.terminationGracePeriodSeconds - container.lifecycle.preStop.sleep.seconds;
  const memory = /^(\d+)Mi$/.exec(container.resources.limits.memory);
  expectEnough(configuration(), { memory: Number(memory?.[1]), seconds });
});

test('the manifests wait for /readyz as long as it may check the storage, and for /livez until a slow start has ended', () => {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  // An operation that waits for the storage ends within 5 s: docs/settings.md.
  expect(readinessProbe.timeoutSeconds).toBeGreaterThan(5);
  // A pod that ends just after it was ready replaces none.
  expect(deployment.minReadySeconds).toBeGreaterThanOrEqual(5);
  // With a tenth of a core: docs/operations.md.
  expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBeGreaterThan(9);
  // A restart does not repair the storage.
  for (const probe of [startupProbe, livenessProbe]) expect(probe.httpGet.path).toBe('/livez');
});

test('the service responds with 200 to each probe', async () => {
  await using service = await startService({
    ...withSecrets(environment, SECRETS),
    ...{ NODE_ENV: 'production', HOST: '127.0.0.1', STORAGE: 'memory', PORT: '0', API_KEYS: undefined },
  });
  for (const { httpGet } of probes) expect((await fetch(new URL(httpGet.path, service.url))).status).toBe(200);
});
