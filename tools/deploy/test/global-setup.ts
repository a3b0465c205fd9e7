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
  const noPromtool = whyNoPromtool();
  const noSystemd = spawnSync('systemd-analyze', ['--version']).status === 0 ? null : 'there is no systemd-analyze';
  project.provide('noContainers', noContainers);
  project.provide('noCompose', noCompose);
  project.provide('noPromtool', noPromtool);
  project.provide('noSystemd', noSystemd);
  const reports = [
    reportMissing('the container image', noContainers, 'start Docker.'),
    reportMissing('Compose', noCompose, "install Debian's package docker-compose."),
    reportMissing('the alerts', noPromtool, "install Debian's package prometheus, or set PROMTOOL."),
    reportMissing('the systemd unit', noSystemd, "install Debian's package systemd."),
  ];
  return () => {
    process.stderr.write(reports.join(''));
  };
}

function reportMissing(subject: string, reason: string | null, remedy: string): string {
  return reason === null
    ? ''
    : notRun({ tests: `the tests of ${subject} in tools/deploy`, because: reason, remedy: `To run them, ${remedy}` });
}
