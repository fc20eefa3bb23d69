// Runs the shell lines of a page as a reader would, in one shell, and holds them to what the page says they print.
import { spawn } from 'node:child_process';
import { codeBlocks } from './markdown.mjs';

/** @typedef {{ command: string, expected: string | undefined, line: number }} Step `line` is the page's, from 1 */

/**
 * The commands of a page's `sh` blocks. A line that ends in a backslash continues on the next one, and a here-document
 * (`<<'END'`) up to its end; `# → text` at the end of a command says what its output contains.
 *
 * @param {string} markdown
 * @returns {Step[]}
 */
export function shellSteps(markdown) {
  return codeBlocks(markdown)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code, line }) => {
      /** @type {Step[]} */
      const steps = [];
      let command = '';
      let first = line;
      for (const [index, text] of code.trimEnd().split('\n').entries()) {
        if (command === '') first = line + index;
        command += `${text}\n`;
        if (text.endsWith('\\')) continue;
        const [, delimiter] = /<<'(\w+)'/.exec(command) ?? [];
        if (delimiter !== undefined && text !== delimiter) continue;
        const expected = /\s# → (.+)\n$/.exec(command)?.[1];
        if (!/^(#.*)?\n$/.test(command)) steps.push({ command, expected, line: first });
        command = '';
      }
      return steps;
    });
}

/**
 * Runs the steps with bash, one after the other in one shell, and stops at the first that fails.
 *
 * @param {Step[]} steps
 * @param {string} folder where the shell stands
 * @param {NodeJS.ProcessEnv} env
 * @param {string} [prelude] shell lines that come first, and belong to no step
 * @returns {Promise<string[]>} what is wrong, one entry each; empty when every step succeeded and printed what it should
 */
export async function runShellSteps(steps, folder, env, prelude = '') {
  const script = `${prelude}\n${steps.map(({ command }) => `${command}printf '\\0'\n`).join('')}`;
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  const code = await new Promise((resolve) => {
    child.on('close', resolve);
  });
  const outputs = output.split('\0');
  const faults = [];
  for (const [index, { command, expected, line }] of steps.entries()) {
    const printed = outputs[index] ?? '';
    if (index === outputs.length - 1) {
      faults.push(`line ${line} ended with ${code}: ${command}${printed}${errors}`);
      break;
    }
    if (expected === undefined || printed.includes(expected)) continue;
    faults.push(`line ${line} should print ${expected}: ${command}it printed ${JSON.stringify(printed)}`);
  }
  return faults;
}
