// A lock between processes that share a folder: a file that its holder keeps touching. A holder that was killed stops
// touching it, and after a while the next in line takes it away.
import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

const touchEveryMs = 1_000;
const pollEveryMs = 250;

/**
 * Waits for the lock and takes it.
 *
 * @param {string} file
 * @param {{ staleAfterMs?: number, onWait?: (holder: string) => void }} [options] `staleAfterMs`: how long a lock that
 *   nobody touches counts, 15 s by default; `onWait` is called once, when somebody else holds the lock
 * @returns {Promise<() => void>} gives the lock back; may be called twice
 */
export async function takeLock(file, { staleAfterMs = 15_000, onWait } = {}) {
  const mark = `${process.pid} ${Date.now()} ${Math.random()}`;
  for (let waited = false; !create(file, mark); ) {
    if (ageMs(file) > (holderIsGone(file) ? 3 * touchEveryMs : staleAfterMs)) {
      takeAway(file, mark);
      continue;
    }
    if (!waited) onWait?.(read(file)?.split(' ')[0] ?? 'unknown');
    waited = true;
    await sleep(pollEveryMs);
  }
  const timer = setInterval(() => touch(file), touchEveryMs);
  return () => {
    clearInterval(timer);
    if (read(file) === mark) rmSync(file, { force: true });
  };
}

/**
 * @param {string} file
 * @param {string} mark
 */
function create(file, mark) {
  try {
    writeFileSync(file, mark, { flag: 'wx' });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Moves a stale lock aside before it goes: of several that find it stale, one moves it. Whoever finds that it has moved a
 * fresh one instead puts it back.
 *
 * @param {string} file
 * @param {string} mark
 */
function takeAway(file, mark) {
  const stale = read(file);
  const aside = `${file}.${mark.replaceAll(' ', '-')}`;
  try {
    renameSync(file, aside);
    if (read(aside) !== stale) linkSync(aside, file);
  } catch {
    // Another one was quicker: the loop looks again.
  }
  rmSync(aside, { force: true });
}

/**
 * Whether this machine has no such process. In a container that shares the folder the holder looks gone too, so its touches
 * count more.
 *
 * @param {string} file
 */
function holderIsGone(file) {
  try {
    process.kill(Number(read(file)?.split(' ')[0]), 0);
    return false;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'ESRCH';
  }
}

/** @param {string} file */
function ageMs(file) {
  try {
    return Date.now() - statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}

/** @param {string} file */
function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** @param {string} file */
function touch(file) {
  try {
    utimesSync(file, new Date(), new Date());
  } catch {
    // Gone with the checkout; there is nothing left to guard.
  }
}
