import { spawnSync } from 'node:child_process';
import { notRun } from '@animal-store/test-kit/not-run';
import type { TestProject } from 'vitest/node';
import { composeCommand, whyNoImage, whyNoPromtool } from './programs.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Why no container can be built and run here; null if containers can. */
    noContainers: string | null;
    /** Why Compose can't be run here; null if it can. */
    noCompose: string | null;
    /** Why the alerts can't be tested here; null if they can. */
    noPromtool: string | null;
    /** Why the systemd unit can't be tested here; null if it can. */
    noSystemd: string | null;
  }
}

/** Checks the requirements of the tests, and reports at the end of the run which tests have not run. */
export default async function setup(project: TestProject): Promise<() => void> {
  const noContainers = await whyNoImage();
  const noCompose = noContainers ?? (await composeCommand().then(() => null, String));
  const noSystemd = spawnSync('systemd-analyze', ['--version']).status === 0 ? null : 'there is no systemd-analyze';
  const requirements = [
    ['noContainers', noContainers, 'the container image', 'start Docker.'],
    ['noCompose', noCompose, 'Compose', "install Debian's package docker-compose."],
    ['noPromtool', whyNoPromtool(), 'the alerts', "install Debian's package prometheus, or set PROMTOOL."],
    ['noSystemd', noSystemd, 'the systemd unit', "install Debian's package systemd."],
  ] as const;
  let report = '';
  for (const [key, because, subject, remedy] of requirements) {
    project.provide(key, because);
    if (because === null) continue;
    report += notRun({ tests: `the tests of ${subject} in tools/deploy`, because, remedy: `To run them, ${remedy}` });
  }
  return () => void process.stderr.write(report);
}
