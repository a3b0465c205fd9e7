/** The hooks of pnpm: a package leaves out the scripts and tools of the repository, because it lacks their files. */
export const hooks = {
  beforePacking: ({ devDependencies: _, scripts: __, ...manifest }) => manifest,
};
