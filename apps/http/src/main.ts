import { runApplication } from '@animal-store/app-kit/run-application';

await runApplication(
  'animal-store',
  'Serves the catalogue of animals over HTTP.',
  async () => (await import('./service.ts')).startService,
);
