import type { TextOutput } from '../context.ts';

/** How often the line is drawn, in milliseconds. */
const INTERVAL = 200;

const ERASE_LINE = '\r\u001b[K';

/** A line on a terminal that says how far a transfer is. */
export interface Progress {
  /** @param share Of the whole, 0 to 1. @param pets How many pets were transferred. */
  update(share: number, pets: number): void;
  /** Writes a line above. */
  print(line: string): void;
  /** Erases the line. */
  end(): void;
}

/** @param output Nothing but printed lines is written to it unless it is a terminal. @param isShown False: no progress. */
export function createProgress(
  output: TextOutput,
  { verb, clock, isShown = true }: { verb: string; clock: () => number; isShown?: boolean },
): Progress {
  const start = clock();
  let [share, pets] = [0, 0];
  const isLive = output.isTTY === true && isShown;
  const draw = () => {
    // A line that the terminal wraps could not be erased.
    const line = progressLine(verb, share, pets, clock() - start).slice(0, (output.columns || 80) - 1);
    output.write(`${ERASE_LINE}${line}`);
  };
  const timer = isLive ? setInterval(draw, INTERVAL) : undefined;
  return {
    update(...progress) {
      [share, pets] = progress;
    },
    print: (line) => void output.write(`${isLive ? ERASE_LINE : ''}${line}\n`),
    end() {
      clearInterval(timer);
      if (isLive) output.write(ERASE_LINE);
    },
  };
}

/** @param elapsed Milliseconds. */
export function progressLine(verb: string, share: number, pets: number, elapsed: number): string {
  const seconds = Math.max(elapsed / 1000, 0.001);
  const rate = Math.round(pets / seconds).toLocaleString('en');
  const left = share > 0 ? duration((seconds / share) * (1 - share)) : '?';
  return `${verb} ${Math.floor(share * 100)} %  ${pets.toLocaleString('en')} pets  ${rate}/s  ${left} left`;
}

/** Hours, minutes and seconds: `1:02:03`, `0:07`. */
function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  const two = (count: number) => String(count).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}
