/** Of pnpm: a package leaves out the scripts and the tools of the repository, whose files it doesn't have. */
export const hooks = {
  beforePacking: ({ devDependencies: _, scripts: __, ...manifest }) => manifest,
};
