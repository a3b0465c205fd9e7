import type { TextOutput } from '../context.ts';

/** How often the line is drawn, in milliseconds. */
const INTERVAL = 200;

const ERASE_LINE = '\r\u001b[K';

/** A line on a terminal with the progress of a transfer. */
export interface Progress {
  /** Writes a line above. */
  print(line: string): void;
  /** Erases the line. */
  end(): void;
}

/** Shows a text again and again, if the output is a terminal. */
export function createProgress(output: TextOutput, text: () => string, isShown = true): Progress {
  const isLive = output.isTTY === true && isShown;
  const erase = isLive ? ERASE_LINE : '';
  const draw = () => {
    // A line that the terminal wraps could not be erased.
    output.write(`${erase}${text().slice(0, (output.columns || 80) - 1)}`);
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

/** The progress of a transfer. `share` is from 0 to 1. */
export function progressText(verb: string, share: number, pets: number): string {
  return `${verb} ${Math.floor(share * 100)} %  ${pets.toLocaleString('en')} pets`;
}
