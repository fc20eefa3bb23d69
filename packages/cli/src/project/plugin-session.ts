import { resolve } from 'node:path';
import type { Command } from 'commander';
import { withExtensionPoint } from '../command.ts';
import { usageError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { Reporter } from '../output.ts';
import { resolveExtensionPoint } from '../resolve.ts';
import { callingFrom, type ObtainToken, type Session } from '../session.ts';
import { printable } from '../text.ts';
import { findProject, type Project } from './project.ts';

/** The environment of a command about a plugin. */
export interface PluginSession extends Session {
  /** The plugin's folder, when there is a `tenon.toml`. */
  readonly project: Project | undefined;
}

export interface ProjectOptions {
  readonly project?: string | undefined;
}

/** Adds `--extension-point`, and `--project` for the `tenon.toml` that may name one. */
export function withProject(command: Command): Command {
  return withProjectFolder(
    withExtensionPoint(command, "tenon.toml's, else TENON_EXTENSION_POINT_ID, else the only one"),
  );
}

/** Adds `--project`. */
export function withProjectFolder(command: Command): Command {
  return command.option('--project <folder>', "the plugin's folder, with its tenon.toml (default: here or above)");
}

/** The action of a command about a plugin: the `tenon.toml` that is here or above says what options don't. */
export function callingForPlugin<Options, Args extends unknown[]>(
  io: Io,
  work: (session: PluginSession, options: Options, ...args: Args) => Promise<void>,
  obtainToken?: ObtainToken<{ readonly project: Project | undefined }, Options, Args>,
): (...args: unknown[]) => Promise<void> {
  const look = async (out: Reporter, options: Options) => {
    const project = await openProject(io, options as ProjectOptions);
    for (const warning of project?.warnings ?? []) out.warn(printable(warning));
    return { project, server: project?.settings.server };
  };
  return callingFrom(
    io,
    look,
    ({ found, ...session }, options: Options, ...args: Args) =>
      work({ ...session, project: found.project }, options, ...args),
    obtainToken,
  );
}

/** Finds the `tenon.toml` that a command is about. @throws CliError for a named folder that has none */
export async function openProject(
  { workingFolder }: Pick<Io, 'workingFolder'>,
  { project: folder }: ProjectOptions,
): Promise<Project | undefined> {
  if (folder === undefined) return findProject(workingFolder);
  const project = await findProject(resolve(workingFolder, folder));
  if (project?.folder === resolve(workingFolder, folder)) return project;
  throw usageError(`There is no tenon.toml in ${folder}.`, 'To create a plugin: tenon plugin init <folder>');
}

/** The id of the extension point that a command about a plugin is about. @throws CliError as {@link resolveExtensionPoint} */
export function pluginExtensionPoint(
  session: PluginSession,
  { extensionPoint }: { readonly extensionPoint?: string | undefined },
): Promise<string> {
  return resolveExtensionPoint(session, extensionPoint ?? session.project?.settings.extensionPoint);
}
