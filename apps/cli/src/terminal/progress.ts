import type { TextOutput } from '../context.ts';

/** How often the line is drawn, in milliseconds. */
const INTERVAL = 200;

/** A day less one second. */
const SECONDS_MAX = 86_399;

const ERASE_LINE = '\r\u001b[K';

/** How far a transfer is: its share of the whole, 0 to 1, and how many pets were transferred. */
export interface Position {
  readonly share: number;
  readonly pets: number;
}

/** A line on a terminal that says how far a transfer is. */
export interface Progress {
  /** Writes a line above. */
  print(line: string): void;
  /** Erases the line. */
  end(): void;
}

/** @param output Nothing but printed lines is written to it unless it is a terminal. @param isShown False: no progress. */
export function createProgress(
  output: TextOutput,
  verb: string,
  position: () => Position,
  { clock, isShown = true }: { clock: () => number; isShown?: boolean },
): Progress {
  const start = clock();
  const isLive = output.isTTY === true && isShown;
  const erase = isLive ? ERASE_LINE : '';
  const draw = () => {
    // A line that the terminal wraps could not be erased.
    const line = progressLine(verb, position(), clock() - start).slice(0, (output.columns || 80) - 1);
    output.write(`${erase}${line}`);
  };
  const timer = isLive ? setInterval(draw, INTERVAL) : undefined;
  return {
    print: (line) => void output.write(`${erase}${line}\n`),
    end() {
      clearInterval(timer);
      output.write(erase);
    },
  };
}

/** @param elapsed Milliseconds. */
export function progressLine(verb: string, { share, pets }: Position, elapsed: number): string {
  const rate = Math.round((pets * 1000) / Math.max(elapsed, 1)).toLocaleString('en');
  const left = share > 0 ? duration(elapsed / share - elapsed) : '?';
  return `${verb} ${Math.floor(share * 100)} %  ${pets.toLocaleString('en')} pets  ${rate}/s  ${left} left`;
}

/** Hours, minutes and seconds, less than a day: `1:02:03`, `0:07`. */
function duration(milliseconds: number): string {
  const seconds = Math.min(Math.ceil(milliseconds / 1000), SECONDS_MAX);
  return new Date(seconds * 1000)
    .toISOString()
    .slice(11, 19)
    .replace(/^(00:)?0?/, '');
}
