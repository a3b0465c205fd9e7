const CLEAR_LINE = '\r\x1b[2K';

/** Shows the progress; each text replaces the one before. */
export function show(text: string): void {
  const { stderr } = process;
  if (stderr.isTTY) stderr.write(CLEAR_LINE + text.slice(0, stderr.columns - 1));
}

/** Reports on standard error that something is not measured, and the reason. */
export function notMeasured(what: string, reason: string): void {
  show('');
  console.error(`NOT MEASURED ${what}: ${reason}`);
}
