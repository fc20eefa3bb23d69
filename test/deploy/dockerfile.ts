import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import process from 'node:process';
import { root } from '../helpers/server.ts';

/** One line of a Dockerfile. */
export interface Instruction {
  readonly name: string;
  readonly rest: string;
}

export function readDockerfile(file: string): readonly Instruction[] {
  const text = readFileSync(file, 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ');
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
      return { name, rest };
    });
}

/** The files that a container engine is sent: what is not in the copy that .dockerignore leaves out. */
export function contextFiles(): readonly string[] {
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const isIgnored = (path: string): boolean => {
    const parts = path.split('/');
    const prefixes = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
    return ignored.some((glob) => prefixes.some((prefix) => matchesGlob(prefix, glob)));
  };
  const listed = execFileSync('git', ['-c', `safe.directory=${root}`, 'ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return listed.split('\0').filter((path) => path !== '' && !isIgnored(path));
}

export interface Image {
  /** Where the last stage's file system begins. */
  readonly folder: string;
  readonly workdir: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
  /** What was not done as an engine would do it. */
  readonly notDone: readonly string[];
}

/** Does what the lines say in folders, one for each stage. */
export function build(instructions: readonly Instruction[], folder: string): Image {
  const stages = new Map<string, string>();
  const notDone: string[] = [];
  let stage = '';
  let image = emptyImage('');
  for (const { name, rest } of instructions) {
    const here = join(stage, image.workdir);
    if (name === 'ARG') continue;
    if (name === 'FROM') {
      const alias = /\sAS\s(\w+)$/.exec(rest)?.[1] ?? 'last';
      stage = join(folder, alias);
      stages.set(alias, stage);
      image = emptyImage(stage);
      notDone.push(`the base image ${rest}: this machine's Node.js and libraries are used`);
    } else if (name === 'WORKDIR') {
      image = { ...image, workdir: rest };
      mkdirSync(join(stage, rest), { recursive: true });
    } else if (name === 'COPY') copy(rest, here, stages);
    else if (name === 'RUN') run(rest, stage, here, notDone);
    else if (name === 'ENV') image = { ...image, environment: { ...image.environment, ...assignments(rest) } };
    else if (name === 'USER') image = { ...image, user: rest };
    else if (name === 'ENTRYPOINT') image = { ...image, entrypoint: JSON.parse(rest) as string[] };
    else if (name === 'CMD') image = { ...image, command: JSON.parse(rest) as string[] };
    else if (name === 'HEALTHCHECK')
      image = { ...image, healthCheck: JSON.parse(rest.split(' CMD ')[1] ?? '') as string[] };
    else notDone.push(`${name} ${rest}`);
  }
  return { ...image, notDone };
}

function emptyImage(folder: string): Image {
  return { folder, workdir: '/', environment: {}, user: '', entrypoint: [], command: [], healthCheck: [], notDone: [] };
}

function copy(rest: string, here: string, stages: ReadonlyMap<string, string>): void {
  const words = rest.split(' ');
  const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined;
  const target = words.pop() ?? '';
  for (const source of words) {
    const to = target.endsWith('/') ? join(here, target, source.split('/').at(-1) ?? '') : join(here, target);
    if (from !== undefined) {
      cpSync(join(stages.get(from) ?? '', source), to, { recursive: true, verbatimSymlinks: true });
      continue;
    }
    const files = contextFiles().filter((file) => source === '.' || file === source || file.startsWith(`${source}/`));
    if (files.length === 0) throw new Error(`COPY ${rest}: there is no ${source} among what the engine is sent`);
    for (const file of files) {
      const place = source === '.' ? join(to, file) : join(to, file.slice(source.length));
      mkdirSync(dirname(place), { recursive: true });
      cpSync(join(root, file), place);
    }
  }
}

function run(rest: string, stage: string, here: string, notDone: string[]): void {
  if (rest.startsWith('npm ci') && !rest.includes('--omit=optional')) {
    // As much again as set-up has installed already; .ci/run does it, in a fresh copy.
    notDone.push(`RUN ${rest}: what is installed here is used`);
    symlinkSync(join(root, 'node_modules'), join(here, 'node_modules'), 'junction');
    return;
  }
  const [command = '', ...later] = rest.replaceAll(/ \/(?=\w)/g, ` ${stage}/`).split(' && ');
  const doable = later.filter((each) => !each.startsWith('chown') || process.getuid?.() === 0);
  execFileSync('sh', ['-c', [command, ...doable].join(' && ')], { cwd: here, env: ofNobodysScript(), stdio: 'pipe' });
}

/** The environment without what an npm that runs the tests has put there for its own scripts; what is at hand is not fetched again. */
function ofNobodysScript(): NodeJS.ProcessEnv {
  const own = /^(npm_(lifecycle|package|command|config_(local_prefix|prefix|workspace|omit|include))|INIT_CWD)/i;
  const others = Object.entries(process.env).filter(([name]) => !own.test(name));
  return { ...Object.fromEntries(others), npm_config_prefer_offline: 'true' };
}

function assignments(rest: string): Record<string, string> {
  return Object.fromEntries(rest.split(' ').map((word) => word.split('=') as [string, string]));
}
