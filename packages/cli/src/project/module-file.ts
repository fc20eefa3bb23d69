import { resolve } from 'node:path';
import { confirm } from '../confirm.ts';
import { CliError, usageError } from '../errors.ts';
import { standardStream } from '../files.ts';
import type { Io } from '../io.ts';
import type { Reporter } from '../output.ts';
import { printable } from '../text.ts';
import { type FoundFile, findModule, type Project } from './project.ts';

/** The part of a session that finding and building a module needs. */
export interface BuildSession {
  readonly io: Io;
  readonly out: Reporter;
  readonly signal: AbortSignal;
  readonly project: Project | undefined;
}

export function whichModule(): CliError {
  return usageError(
    'No module is named, neither in the command nor in a tenon.toml or xtp.toml here or above.',
    'Name its file. To create a plugin: tenon plugin init',
  );
}

/** The file with the module, which is built before when that is asked for, or when it isn't there and the user says so. */
export async function moduleFile(
  session: BuildSession,
  options: { readonly build?: boolean | undefined },
  file: string | undefined,
): Promise<string> {
  const { io, project } = session;
  if (options.build) await runBuild(session, assertBuild(project));
  if (file !== undefined) return file === standardStream ? file : resolve(io.workingFolder, file);
  const module = project?.settings.module;
  if (project === undefined || module === undefined) throw whichModule();
  const find = () => findModule(project, module);
  return builtFile(session, options, find, { name: module, what: 'module', ...project, build: project.settings.build });
}

/** A file that a project names, and how it is made. */
export interface BuiltFile {
  /** As the project names it. */
  readonly name: string;
  readonly what: string;
  readonly folder: string;
  readonly fileName: string;
  readonly build: string | undefined;
}

/** A file of a project. One that isn't there is built, if there is a command and the user confirms it. */
export async function builtFile(
  session: BuildSession,
  options: { readonly build?: boolean | undefined },
  find: () => Promise<FoundFile>,
  { name, what, folder, fileName, build }: BuiltFile,
): Promise<string> {
  const found = await find();
  if (found.isThere) return found.path;
  if (build !== undefined && !options.build) {
    const asked = `${printable(name)} doesn't exist yet. This command will run in ${printable(folder)}:\n  ${printable(build)}\n`;
    await confirm(session.io, asked, { hint: 'Add --build to run it.' });
    await runBuild(session, { folder, command: build });
    const built = await find();
    if (built.isThere) return built.path;
  }
  const hint =
    build === undefined
      ? undefined
      : `The build succeeded, but didn't write this file. Check the ${what} in ${fileName}.`;
  throw new CliError('file', `Cannot read the ${what} from ${found.path}: there is no such file.`, { hint });
}

function assertBuild(project: Project | undefined): BuildCommand {
  const command = project?.settings.build;
  if (project !== undefined && command !== undefined) return { folder: project.folder, command };
  throw usageError(
    project === undefined
      ? 'No tenon.toml or xtp.toml here or above has a build command.'
      : `${project.file} has no build command.`,
    'Add a line such as build = "npm run build" below [plugin].',
  );
}

/** A line for the system's shell, and the folder in which it runs. */
export interface BuildCommand {
  readonly folder: string;
  readonly command: string;
}

export async function runBuild(
  { io, out, signal }: Omit<BuildSession, 'project'>,
  { folder, command }: BuildCommand,
): Promise<void> {
  out.note(`$ ${printable(command)}`);
  const startedMs = io.nowMs();
  const code = await io.runShell(command, folder, signal);
  if (code === 0) {
    out.note(`Built in ${((io.nowMs() - startedMs) / 1000).toFixed(1)} s.`);
    return;
  }
  const how = code === null ? 'was ended by a signal' : `ended with ${code}`;
  throw new CliError('build_failed', `The build ${how}: ${command}`, {
    hint: `It ran in ${folder}; its messages are above. Nothing was published.`,
  });
}
