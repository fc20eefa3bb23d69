import type { Environment } from './environment.ts';
import type { Output } from './io.ts';

const frames = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];
const intervalMs = 80;

/** Shows on a terminal that the command waits. */
export interface Spinner {
  /** Writes a line above it. */
  readonly say: (text: string) => void;
  /** Takes it away. */
  readonly end: () => void;
}

/** Says on stderr what is waited for: with something that moves on a terminal, as a plain line anywhere else. */
export function startSpinner(
  { stderr, environment }: { readonly stderr: Output; readonly environment: Environment },
  text: string,
): Spinner {
  const say = (line: string) => void stderr.write(`${line}\n`);
  if (!stderr.isTTY || environment.TERM === 'dumb') {
    say(text);
    return { say, end() {} };
  }
  const clear = () => stderr.write('\r\u001b[K');
  let at = 0;
  const draw = () => {
    clear();
    stderr.write(`${frames[at]} ${text.slice(0, Math.max((stderr.columns || 80) - 3, 1))}`);
    at = (at + 1) % frames.length;
  };
  draw();
  const timer = setInterval(draw, intervalMs);
  return {
    say(line) {
      clear();
      say(line);
      draw();
    },
    end() {
      clearInterval(timer);
      clear();
    },
  };
}
