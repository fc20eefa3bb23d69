import { open } from 'node:fs/promises';
import { maxReadmeBytes, type PluginAboutInput, parseHomepage, pluginAbout } from '@tenon/protocol';
import { usageError } from '../errors.ts';
import { fileError } from '../files.ts';
import type { Session } from '../session.ts';
import { findInProject, type Project } from './project.ts';
import { tenonTomlName } from './tenon-toml.ts';

/**
 * The texts about the plugin that `tenon.toml` has.
 *
 * @returns `undefined` if it has none
 * @throws CliError for a README that is missing, too large, not UTF-8, or outside of the folder
 */
export async function readAbout(project: Project | undefined): Promise<PluginAboutInput | undefined> {
  if (project === undefined) return undefined;
  const { description, homepage, readme } = project.settings;
  if (description === undefined && homepage === undefined && readme === undefined) return undefined;
  return {
    ...(description !== undefined && { description }),
    ...(homepage !== undefined && { homepage: parseHomepage(homepage) ?? homepage }),
    ...(readme !== undefined && { readme: await readReadme(project, readme) }),
  };
}

async function readReadme(project: Project, name: string): Promise<string> {
  const { path } = await findInProject(project, name, {
    what: 'README',
    hint: 'Copy it into the folder of tenon.toml.',
  });
  const bytes = Buffer.alloc(maxReadmeBytes + 1);
  let length = 0;
  try {
    const file = await open(path, 'r');
    try {
      if (!(await file.stat()).isFile()) throw usageError(`${path} is not a file.`);
      for (let read = -1; read !== 0 && length < bytes.length; length += read) {
        ({ bytesRead: read } = await file.read(bytes, length, bytes.length - length));
      }
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw fileError(`Cannot read the README that ${tenonTomlName} names`, cause);
  }
  if (length > maxReadmeBytes) throw usageError(`${path} is larger than the ${maxReadmeBytes / 1024} KiB of a README.`);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length));
    if (text !== '') return text;
  } catch {
    throw usageError(`${path} is not UTF-8 text.`);
  }
  throw usageError(`${path} is empty.`, `Remove "readme" from ${tenonTomlName} to publish none.`);
}

/** Publishes the texts, if they differ from those of the plugin. @returns whether they did */
export async function putAbout(
  { api }: Pick<Session, 'api'>,
  pluginPath: string,
  about: PluginAboutInput,
): Promise<boolean> {
  const before = await api.get(`${pluginPath}/about`, pluginAbout);
  const isSame = Object.entries(about).every(([field, text]) => before[field as keyof PluginAboutInput] === text);
  if (isSame) return false;
  await api.send('PUT', `${pluginPath}/about`, about, pluginAbout);
  return true;
}
