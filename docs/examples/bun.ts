// bun --conditions=@animal-store/source docs/examples/bun.ts
import { createApp } from '../../apps/http/src/app/app.ts';
import { createMemoryStorage } from '../../packages/adapter-memory/src/index.ts';
import { readApiKeys, sha256 } from '../../packages/app-kit/src/index.ts';
import { createCatalogue } from '../../packages/domain/src/index.ts';
import { createAuthentication } from '../../packages/domain/src/transport.ts';

const { pets, keys: issuedKeys } = createMemoryStorage();
const configuredKeys = readApiKeys({ API_KEYS: 'the-key-of-an-example' }, []);
const clocks = { clock: Date.now, monotonicClock: () => performance.now() };
const authenticate = createAuthentication({ configuredKeys, issuedKeys, digest: sha256, ...clocks });
const { fetch } = createApp({ catalogue: createCatalogue(pets), authenticate });
console.log(`listening at ${Bun.serve({ fetch, port: 0, hostname: '127.0.0.1' }).url}`);
