import type { ProjectOptions } from '../../vitest.config.ts';

const MODEL = ['test/model.test.ts'];

export default [{ exclude: MODEL }, { name: 'model', release: true, include: MODEL }] satisfies ProjectOptions[];
