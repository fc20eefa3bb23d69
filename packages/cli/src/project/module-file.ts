import { resolve } from 'node:path';
import { confirm } from '../confirm.ts';
import { CliError, usageError } from '../errors.ts';
import { standardStream } from '../files.ts';
import type { Io } from '../io.ts';
import type { Reporter } from '../output.ts';
import { printable } from '../text.ts';
import { findModule, type Project } from './project.ts';

/** The part of a session that finding and building a module needs. */
export interface BuildSession {
  readonly io: Io;
  readonly out: Reporter;
  readonly signal: AbortSignal;
  readonly project: Project | undefined;
}

export function whichModule(): CliError {
  return usageError(
    'No module is named, neither in the command nor in a tenon.toml here or above.',
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
  if (options.build) await build(session, assertBuild(project));
  if (file !== undefined) return file === standardStream ? file : resolve(io.workingFolder, file);
  const module = project?.settings.module;
  if (project === undefined || module === undefined) throw whichModule();
  const found = await findModule(project, module);
  if (found.isThere) return found.path;
  if (project.settings.build !== undefined && !options.build) {
    const what = `${printable(module)} doesn't exist yet. This command will run in ${printable(project.folder)}:\n  ${printable(project.settings.build)}\n`;
    await confirm(io, what, { hint: 'Add --build to run it.' });
    await build(session, assertBuild(project));
    return moduleFile(session, { ...options, build: undefined }, file);
  }
  const hint = options.build
    ? 'The build succeeded, but didn\'t write this file. Check "module" in tenon.toml.'
    : undefined;
  throw new CliError('file', `Cannot read the module from ${found.path}: there is no such file.`, { hint });
}

function assertBuild(project: Project | undefined): Project {
  if (project?.settings.build !== undefined) return project;
  throw usageError(
    project === undefined
      ? 'No tenon.toml here or above has a build command.'
      : `${project.file} has no build command.`,
    'Add a line such as build = "npm run build" below [plugin].',
  );
}

async function build({ io, out, signal }: BuildSession, { folder, settings }: Project): Promise<void> {
  const command = settings.build ?? '';
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
