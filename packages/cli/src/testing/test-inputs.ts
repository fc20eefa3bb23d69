import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { SimulationInputs } from '@tenon/run-kit/simulation';
import { CliError } from '../errors.ts';
import { readInput, standardStream } from '../files.ts';
import type { Io } from '../io.ts';
import { type BuildSession, builtFile } from '../project/module-file.ts';
import { findInProject, type Project } from '../project/project.ts';
import type { TestSetting } from '../project/test-settings.ts';
import { parseFixtures } from './fixtures-file.ts';

/** The options that name a test. Without `with` and `fixtures` they name none. */
export interface TestFiles {
  readonly with?: string | undefined;
  readonly mockHost?: string | undefined;
  readonly mockInputData?: string | undefined;
  readonly mockInputFile?: string | undefined;
  readonly fixtures?: string | undefined;
}

/** A test whose files lie where they lie: the user has named them. */
export interface FoundTest {
  readonly name: string;
  readonly with: string | undefined;
  readonly mockHost: string | undefined;
  readonly mockInput: { readonly data: string } | { readonly file: string } | undefined;
  readonly fixtures: string | undefined;
}

/** The test that options name. */
export function testOfOptions({ workingFolder }: Pick<Io, 'workingFolder'>, options: TestFiles): FoundTest | undefined {
  const { with: module, mockHost, mockInputData, mockInputFile, fixtures } = options;
  const named = module ?? fixtures;
  if (named === undefined) return undefined;
  const path = (file: string | undefined) =>
    file === undefined || file === standardStream ? file : resolve(workingFolder, file);
  const mockFile = path(mockInputFile);
  const ofFile = mockFile === undefined ? undefined : { file: mockFile };
  return {
    name: basename(named).replace(/\.(wasm|json)$/i, ''),
    with: path(module),
    mockHost: path(mockHost),
    mockInput: mockInputData === undefined ? ofFile : { data: mockInputData },
    fixtures: path(fixtures),
  };
}

/**
 * The files of a project's test, all within its folder. A test module that isn't there is built, if the user confirms it.
 *
 * @throws CliError for a file that is missing, outside of the folder, or a URL
 */
export async function testOfProject(
  session: BuildSession,
  project: Project,
  test: TestSetting,
  options: { readonly build?: boolean | undefined },
): Promise<FoundTest> {
  const { folder, fileName } = project;
  const file = async (name: string | undefined, what: string, build?: string) => {
    if (name === undefined) return undefined;
    const find = () => findInProject(project, name, { what, hint: 'Copy it into the folder.' });
    const path = await builtFile(session, options, find, { name, what, folder, fileName, build });
    if ((await stat(path)).isFile()) return path;
    throw new CliError('file', `Cannot read the ${what} from ${path}: it is not a file.`);
  };
  const { with: module, mockHost, mockInput, fixtures } = test;
  const mockFile =
    mockInput !== undefined && 'file' in mockInput ? await file(mockInput.file, 'mock input') : undefined;
  return {
    name: test.name ?? basename(module ?? fixtures ?? '').replace(/\.(wasm|json)$/i, ''),
    with: await file(module, 'test module', test.build),
    mockHost: await file(mockHost, 'mock host'),
    mockInput: mockFile === undefined ? mockInput : { file: mockFile },
    fixtures: await file(fixtures, 'fixtures'),
  };
}

/** The files of a test that can change. */
export function filesOf({ with: module, mockHost, mockInput, fixtures }: FoundTest): string[] {
  const ofInput = mockInput !== undefined && 'file' in mockInput ? mockInput.file : undefined;
  return [module, mockHost, ofInput, fixtures].filter((file) => file !== undefined);
}

/** Reads a test's files. */
export async function readTest(io: Pick<Io, 'stdin'>, test: FoundTest): Promise<SimulationInputs> {
  const { name, with: module, mockHost, mockInput, fixtures } = test;
  const read = (file: string, what: string) => readInput(io, file, what);
  return {
    name,
    revision: null,
    ...(module !== undefined && { testModule: await read(module, 'the test module') }),
    ...(mockHost !== undefined && { mockHost: await read(mockHost, 'the mock host') }),
    ...(fixtures !== undefined && { fixtures: parseFixtures(await read(fixtures, 'the fixtures'), fixtures) }),
    ...(mockInput !== undefined && {
      mockInput:
        'data' in mockInput ? new TextEncoder().encode(mockInput.data) : await read(mockInput.file, 'the mock input'),
    }),
  };
}
