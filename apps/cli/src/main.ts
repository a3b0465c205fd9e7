#!/usr/bin/env node
import { requireNode } from '@animal-store/app-kit/run-application';

if (requireNode('animal-store')) await import('./run.ts');
