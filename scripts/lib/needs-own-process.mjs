// Which test files take a process of their own: a fact of what they import, so that no list is kept.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { blankComments, importsOf } from './imports.mjs';
import { root } from './workspace.mjs';

/** Changes or measures what a process has once: the environment, the folder, timers, globals, memory, processor time. */
const changesTheProcess =
  /\bprocess\.env(?:\.\w+|\[[^\]]+\]) = |\bprocess\.(?:chdir|exit|umask|setuid|memoryUsage|cpuUsage|resourceUsage)\(|\bprocess\.(?:exitCode|title) = |\bmock\.timers\b|\bglobalThis\.\w+ = |\bdelete process\.env\b|\bObject\.defineProperty\((?:process|globalThis)\b/;

/**
 * Whether a test file, or a test helper that it reaches by imports, changes or measures the process that it runs in.
 * What the product's own sources do does not count: tests call them with everything handed in.
 *
 * @param {string} file from the root, with `/`
 * @param {string} [cwd] the root
 */
export function needsOwnProcess(file, cwd = root) {
  const seen = new Set([file]);
  for (const path of seen) {
    const text = readFileSync(join(cwd, path), 'utf8');
    if (changesTheProcess.test(blankComments(text))) return true;
    for (const { specifier, isType } of importsOf(text)) {
      if (isType) continue;
      if (specifier === 'node:cluster') return true;
      const target = specifier.startsWith('.') ? posix.join(dirname(path), specifier) : undefined;
      if (target !== undefined && isTestCode(target) && existsSync(join(cwd, target))) seen.add(target);
    }
  }
  return false;
}

/** @param {string} file */
function isTestCode(file) {
  return /\.m?[jt]s$/.test(file) && (/(?:^|\/)test\//.test(file) || /\.(?:test|proof)\.ts$/.test(file));
}
