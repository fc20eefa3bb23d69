import { spawn } from 'node:child_process';
import { delimiter, win32 } from 'node:path';
import type { Environment } from '../environment.ts';

/**
 * Whether a browser on this machine can be shown to the person at the terminal: not over SSH, and on Linux and its like only
 * with a display, or where BROWSER names one. The loopback redirect needs one on the very machine.
 */
export function canOpenBrowser(environment: Environment, platform: NodeJS.Platform): boolean {
  if (environment.SSH_CONNECTION || environment.SSH_CLIENT || environment.SSH_TTY) return false;
  if (platform === 'win32' || platform === 'darwin') return true;
  const { BROWSER, DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME } = environment;
  return Boolean(BROWSER || DISPLAY || WAYLAND_DISPLAY || WSL_DISTRO_NAME);
}

/** A program and what comes before the URL among its arguments. */
export type Opener = readonly [program: string, ...leading: string[]];

/** The programs that can open a page, best first. BROWSER lists names or paths of some, without arguments. */
export function browserOpeners(environment: Environment, platform: NodeJS.Platform): readonly Opener[] {
  const chosen = (environment.BROWSER ?? '').split(delimiter).filter(Boolean);
  return [...chosen.map((program): Opener => [program]), ...platformOpeners(environment, platform)];
}

function platformOpeners(environment: Environment, platform: NodeJS.Platform): readonly Opener[] {
  const windowsHandler = 'url.dll,FileProtocolHandler';
  switch (platform) {
    case 'win32':
      return [[win32.join(environment.SystemRoot || 'C:\\Windows', 'System32', 'rundll32.exe'), windowsHandler]];
    case 'darwin':
      return [['/usr/bin/open']];
    default: {
      const isWsl = Boolean(environment.WSL_DISTRO_NAME);
      return [
        ...(isWsl ? [['wslview'] as const, ['/mnt/c/Windows/System32/rundll32.exe', windowsHandler] as const] : []),
        ['xdg-open'],
      ];
    }
  }
}

/** A program that is still there after this long shows the page, or is the browser itself. */
const timeoutMs = 5_000;

/**
 * Opens a page in the user's browser.
 *
 * The package `open` does this too, with eleven others behind it and PowerShell between. Here no shell sees the URL: it is one
 * argument of a program.
 *
 * @param url http or https; anything else could be taken for an option, or for a program to start
 * @throws the last opener's error when none works
 */
export async function openBrowser(url: string, environment: Environment, platform: NodeJS.Platform): Promise<void> {
  if (!/^https?:\/\//.test(url)) throw new Error(`No page of the web: ${url}`);
  let failure: unknown;
  for (const opener of browserOpeners(environment, platform)) {
    try {
      return await runOpener(opener, url, environment);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function runOpener([program, ...leading]: Opener, url: string, environment: Environment): Promise<void> {
  const { TENON_TOKEN: _, ...inherited } = environment; // nothing that a browser needs
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...leading, url], {
      env: inherited,
      stdio: 'ignore',
      detached: true,
      windowsHide: true,
    });
    const timer = setTimeout(resolve, timeoutMs);
    timer.unref();
    child.unref();
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      if (code === 0) resolve();
      else reject(new Error(`${program} ended with ${code}`));
    });
  });
}
