import type { Command } from './command.ts';
import type { Io } from './io.ts';
import { canOpenBrowser } from './login/browser.ts';
import type { Reporter } from './output.ts';

export interface ShowPageOptions {
  readonly print?: boolean;
}

/** A browser that still runs after this long shows the page. */
const startMs = 1_000;

/** Adds `--print`, for commands that open a page. */
export function withPrint(command: Command): Command {
  return command.option('--print', "write the page's URL; don't open it (default without a browser, and with --json)");
}

/** Opens a page in the user's browser, or writes its URL to stdout where that can't be done or is not wanted. */
export async function showPage(
  io: Pick<Io, 'environment' | 'platform' | 'openBrowser' | 'sleep'>,
  out: Reporter,
  url: string,
  { print = false }: ShowPageOptions,
  signal: AbortSignal,
): Promise<void> {
  if (!print && !out.isJson && canOpenBrowser(io.environment, io.platform)) {
    try {
      await Promise.race([io.openBrowser(url), io.sleep(startMs, signal)]);
      out.note(`Opened ${url}`);
      return;
    } catch (error) {
      if (signal.aborted) throw error;
      out.note('No browser could be opened. Open this page yourself:');
    }
  }
  out.result({ url }, () => out.write(`${url}\n`));
}
