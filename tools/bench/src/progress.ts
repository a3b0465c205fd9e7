const CLEAR_LINE = '\r\x1b[2K';

/** Tells a person what is going on; each text replaces the one before. */
export function show(text: string): void {
  const { stderr } = process;
  if (stderr.isTTY) stderr.write(CLEAR_LINE + text.slice(0, stderr.columns - 1));
}

/** Says on standard error what is not measured, and why. */
export function notMeasured(what: string, reason: string): void {
  show('');
  console.error(`NOT MEASURED ${what}: ${reason}`);
}
