import { readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { locations } from '../locations.ts';
import { formatTenonToml, type TenonToml, tenonTomlName } from '../project/tenon-toml.ts';
import { shellWord } from '../text.ts';
import { assemblyScriptFiles } from './assemblyscript.ts';
import { cFiles } from './c.ts';
import { cppFiles } from './cpp.ts';
import { goFiles } from './go.ts';
import { type GeneratedFiles, type PluginInterface, readPluginInterface, sampleInterface } from './plugin-interface.ts';
import { rustFiles } from './rust.ts';
import { sampleFixtures } from './sample-fixtures.ts';
import { typeScriptFiles } from './typescript.ts';

/** The languages of plugins. */
export const templateNames = ['assemblyscript', 'c', 'cpp', 'go', 'rust', 'typescript'] as const;
export type TemplateName = (typeof templateNames)[number];

interface Template {
  /** The requirements, for people. */
  readonly summary: string;
  readonly build: string;
  /** The built module, if it is not {@link usualModule}. */
  readonly module?: string;
  /** The file with the exports. */
  readonly source: string;
  readonly bindings: string;
  /** The fixed files that the bindings need. */
  readonly library: readonly string[];
  readonly files: (plugin: PluginInterface) => GeneratedFiles;
}

const usualModule = 'plugin.wasm';
const fixturesName = 'tests/exports.json';
const testSettings = `\n[[test]]\nname = "exports"\nfixtures = "${fixturesName}"\n`;

export const templates: Readonly<Record<TemplateName, Template>> = {
  assemblyscript: {
    summary: 'like TypeScript; it takes Node.js and npm',
    build: 'npm install --no-audit --no-fund && npm run build',
    source: 'assembly/index.ts',
    bindings: 'assembly/bindings.ts',
    library: ['decimal', 'extism', 'json', 'json-text'].map((name) => `assembly/${name}.ts`),
    files: assemblyScriptFiles,
  },
  c: {
    summary: 'it takes clang and lld',
    // The oldest WebAssembly, which every host and every extension point takes.
    build: `clang --target=wasm32 -mcpu=mvp -std=c11 -O2 -Wall -Wextra -ffreestanding -nostdlib -Wl,--no-entry -o ${usualModule} src/plugin.c`,
    source: 'src/plugin.c',
    bindings: 'src/bindings.h',
    library: ['decimal', 'extism', 'json', 'json-text'].map((name) => `src/${name}.h`),
    files: cFiles,
  },
  cpp: {
    summary: 'C++; it takes clang and lld with the C++ library for WebAssembly, or wasi-sdk',
    build: `clang++ --target=wasm32-wasi -mexec-model=reactor -mcpu=mvp -std=c++17 -O2 -Wall -Wextra -fno-exceptions -o ${usualModule} src/plugin.cpp src/exports.cpp`,
    source: 'src/plugin.cpp',
    bindings: 'src/bindings.hpp',
    library: ['extism', 'json', 'json-text'].map((name) => `src/${name}.hpp`),
    files: cppFiles,
  },
  go: {
    summary: 'it takes Go 1.24 or later',
    build: `GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o ${usualModule} .`,
    source: 'plugin.go',
    bindings: 'bindings.go',
    library: ['extism.go', 'kernel.go', 'kernel_native.go'],
    files: goFiles,
  },
  rust: {
    summary: 'it takes Rust with the target wasm32-unknown-unknown',
    build: 'cargo build --release',
    module: 'target/wasm32-unknown-unknown/release/plugin.wasm',
    source: 'src/plugin.rs',
    bindings: 'src/bindings.rs',
    library: ['extism', 'json', 'json_text'].map((name) => `src/${name}.rs`),
    files: rustFiles,
  },
  typescript: {
    summary: 'TypeScript in QuickJS; it takes Node.js, npm, and extism-js',
    build: 'npm install --no-audit --no-fund && npm run build',
    source: 'src/plugin.ts',
    bindings: 'src/bindings.ts',
    library: ['src/json.ts'],
    files: typeScriptFiles,
  },
};

/** The requested plugin. */
export interface PluginPlan {
  readonly template: TemplateName;
  readonly name: string;
  readonly extensionPoint: { readonly id: string; readonly name: string | undefined } | undefined;
  readonly server: string | undefined;
  /** `undefined` where it isn't known. */
  readonly plugin: PluginInterface | undefined;
  /** The optional exports that it has. */
  readonly optionalExports: readonly string[];
}

/**
 * Puts a plugin's files together.
 *
 * @returns their texts by path, with `/`, from the plugin's folder on
 */
export async function renderTemplate(plan: PluginPlan): Promise<Map<string, string>> {
  const { template, plugin = sampleInterface } = plan;
  const { build, module = usualModule, files } = templates[template];
  const settings: TenonToml = {
    name: plan.name,
    ...(plan.extensionPoint === undefined ? {} : { extensionPoint: plan.extensionPoint.id }),
    ...(plan.server === undefined ? {} : { server: plan.server }),
    module,
    build,
  };
  const tenonToml = publishingComment(plan.server) + formatTenonToml(settings) + testSettings;
  const shown = plugin.exports.length === 0 ? sampleInterface : plugin;
  const { generated, source } = files(shown);
  return new Map([
    [tenonTomlName, tenonToml],
    ...(await fixedFiles(plan, plugin)),
    ...generated,
    ...source,
    [fixturesName, sampleFixtures(shown, shown === sampleInterface)],
  ]);
}

/** Loads the generator of a language's bindings: without the plugin's own files. */
export async function loadBindings(language: TemplateName): Promise<(schema: unknown) => ReadonlyMap<string, string>> {
  const { library, files } = templates[language];
  const fixed = await Promise.all(
    library.map(async (name): Promise<[string, string]> => {
      return [name, await readFile(fileURLToPath(new URL(`${language}/${name}`, locations.templates)), 'utf8')];
    }),
  );
  return (schema) => new Map([...fixed, ...files(readPluginInterface(schema)).generated]);
}

/** The package of the command line that a server offers. */
const packageUrl = (server: string) => `${server.replace(/\/$/, '')}/packages/tenon-cli.tgz`;

/** Says how to publish, to those who get the folder without a command line. */
function publishingComment(server: string | undefined): string {
  if (server === undefined) return '';
  return `# To publish this plugin, install the command line, and log in:
#   npm install --global ${packageUrl(server)}
#   tenon login --server ${server}
#   tenon plugin push --build
# Without installing it:
#   npx --package=${packageUrl(server)} tenon plugin push --build

`;
}

/** The template's own files, in which `{{…}}` is filled in. */
async function fixedFiles(plan: PluginPlan, plugin: PluginInterface): Promise<[string, string][]> {
  const folder = fileURLToPath(new URL(`${plan.template}/`, locations.templates));
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const values = readmeValues(plan, plugin);
  const fill = (text: string) => text.replace(/\{\{(\w+)\}\}/g, (_, key: keyof typeof values) => values[key]);
  return Promise.all(
    paths.sort().map(async (path): Promise<[string, string]> => {
      const name = path.slice(folder.length).replaceAll(sep, '/');
      const text = await readFile(path, 'utf8');
      // npm leaves files called .gitignore out of packages.
      return [
        name === 'gitignore' ? '.gitignore' : name,
        name === 'README.md' ? `${fill(text).replace(/ +$/gm, '').trimEnd()}\n` : text,
      ];
    }),
  );
}

function readmeValues(plan: PluginPlan, { exports, imports }: PluginInterface) {
  const { name, extensionPoint, template, server, optionalExports } = plan;
  const included = optionalExports.map((each) => ` --optional-export ${shellWord(each)}`).join('');
  const names = (exports.length === 0 ? sampleInterface : { exports }).exports.map((entry) => `\`${entry.name}\``);
  return {
    name,
    about: extensionPoint === undefined ? '' : `It is published against the extension point \`${extensionPoint.id}\`.`,
    install: server === undefined ? '' : `npm install --global ${packageUrl(server)}    # once\n`,
    exports: names.join(', '),
    contents: imports.length === 0 ? 'types' : 'types, and the functions of the host',
    generate: `tenon bindings generate ${template}${extensionPoint === undefined ? ' --schema <file>' : ''}${included}`,
  };
}
