// What can be wrong with the documentation that a machine can see.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import process from 'node:process';
import { anchors, codeBlocks, links } from './markdown.mjs';

/**
 * Checks that links lead somewhere, that shell lines and JSON can be parsed, and that TypeScript has the types it claims.
 *
 * @param {string} root
 * @param {string[]} files Markdown, as paths from the root with `/`
 * @returns {string[]} what is wrong, one line each; empty when nothing is
 */
export function docsFaults(root, files) {
  return [
    ...files.flatMap((file) => linkFaults(root, file)),
    ...files.flatMap((file) => syntaxFaults(root, file)),
    ...typeFaults(root, files),
  ];
}

/**
 * @param {string} root
 * @param {string} file
 */
function linkFaults(root, file) {
  return links(read(root, file)).flatMap(({ target, line }) => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return [];
    const [path = '', anchor] = target.split('#');
    const page = path === '' ? file : posix.join(posix.dirname(file), decodeURIComponent(path));
    if (!existsSync(join(root, page))) return [`${file}:${line} links to ${target}: there is no such file`];
    const known = anchor === undefined || !page.endsWith('.md') || anchors(read(root, page)).has(anchor);
    return known ? [] : [`${file}:${line} links to ${target}: there is no such heading`];
  });
}

/**
 * @param {string} root
 * @param {string} file
 */
function syntaxFaults(root, file) {
  return codeBlocks(read(root, file)).flatMap(({ language, code, line }) => {
    if (language === 'json') return jsonFaults(`${file}:${line}`, code);
    if (language !== 'sh') return [];
    const { status, stderr } = spawnSync('bash', ['-n'], { input: code, encoding: 'utf8' });
    return status === 0 ? [] : [`${file}:${line} is not valid shell: ${stderr.trim()}`];
  });
}

/**
 * @param {string} place
 * @param {string} code
 */
function jsonFaults(place, code) {
  try {
    JSON.parse(code);
    return [];
  } catch (error) {
    return [`${place} is not valid JSON: ${/** @type {Error} */ (error).message}`];
  }
}

/**
 * Puts every block of TypeScript into a file of its own, at the line that it has in its page, and has the compiler check them all.
 *
 * @param {string} root
 * @param {string[]} files
 */
function typeFaults(root, files) {
  const blocks = files.flatMap((file) =>
    codeBlocks(read(root, file))
      .filter(({ language }) => language === 'ts')
      .map((block) => ({ file, ...block })),
  );
  if (blocks.length === 0) return [];
  const folder = mkdtempSync(join(root, '.docs-examples-')); // inside, so that package names resolve
  try {
    /** @type {Map<string, string>} */
    const pages = new Map();
    for (const [index, { file, code, line }] of blocks.entries()) {
      const name = `${index}.mts`;
      pages.set(name, file);
      // The export makes each block a module, in which `await` may stand at the top.
      writeFileSync(join(folder, name), `${'\n'.repeat(line - 1)}${code}export {};\n`);
    }
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: '../tsconfig.json', include: ['*.mts', '../types'] }),
    );
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], {
      cwd: folder,
      encoding: 'utf8',
    });
    if (status === 0) return [];
    return stdout
      .trimEnd()
      .replaceAll(/^(\d+\.mts)\((\d+),\d+\):/gm, (_, name, line) => `${pages.get(name)}:${line}`)
      .split('\n');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} root
 * @param {string} file
 */
function read(root, file) {
  return readFileSync(join(root, file), 'utf8');
}
