/**
 * A reporter of Vitest: shows the seconds that the tests and hooks of each workspace took, the slowest first. Several files run
 * at the same time.
 */
export default function createReporter() {
  return {
    onTestRunEnd(modules) {
      const seconds = new Map();
      for (const module of modules) {
        // The level follows the folder in the name of a project.
        const [workspace] = module.project.name.split(' ');
        seconds.set(workspace, (seconds.get(workspace) ?? 0) + module.diagnostic().duration / 1000);
      }
      const slowestFirst = [...seconds].sort(([, one], [, other]) => other - one);
      for (const [workspace, sum] of slowestFirst) console.log(`${sum.toFixed(1).padStart(7)} s  ${workspace}`);
    },
  };
}
