#!/usr/bin/env node
import { runApplication } from '@animal-store/app-kit/run-application';

await runApplication(
  'animal-store-mcp',
  'Serves the catalogue of animals as MCP tools on standard input and output.',
  () => import('./serve.ts'),
);
