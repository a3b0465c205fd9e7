// src/main.ts: handles signals, loads the rest, and turns a configuration error into one line and exit code 2
import { runApplication } from '@animal-store/app-kit/run-application';

await runApplication(
  'animal-store-grpc',
  'Serves the catalogue over gRPC.',
  async () => (await import('./serve.ts')).serve,
);
