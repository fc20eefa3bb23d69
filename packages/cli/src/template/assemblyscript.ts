import {
  commentLines,
  distinctNames,
  type PluginInterface,
  type Side,
  sampleInterface,
  type TemplateFunction,
} from './plugin-interface.ts';

/** The AssemblyScript that is made for an extension point: a stub for each export, and the host's functions. */
export function assemblyScriptFiles(plugin: PluginInterface): Map<string, string> {
  const files = new Map([
    ['asconfig.json', configText(plugin)],
    ['assembly/index.ts', indexText(plugin)],
  ]);
  if (plugin.imports.length > 0) files.set('assembly/host.ts', hostText(plugin.imports));
  return files;
}

/** The compiler's names of proposals, and those of extension points. */
const features: readonly (readonly [proposal: string, feature: string])[] = [
  ['mutable-global', 'mutable-globals'],
  ['sign-extension', 'sign-extension'],
  ['saturating-float-to-int', 'nontrapping-f2i'],
  ['bulk-memory', 'bulk-memory'],
];

/** https://www.assemblyscript.org/compiler.html#compiler-options */
function configText({ proposals }: PluginInterface): string {
  const disable = features.flatMap(([proposal, feature]) => (proposals?.includes(proposal) === false ? [feature] : []));
  const options = {
    outFile: 'plugin.wasm',
    optimizeLevel: 3,
    shrinkLevel: 1,
    debug: true, // keeps the functions' names, by which they are traced
    use: ['abort=assembly/extism/abort'],
    ...(disable.length === 0 ? {} : { disable }),
  };
  return `${JSON.stringify({ entries: ['assembly/index.ts'], options }, null, 2)}\n`;
}

/** Names that mean something else in the file: the language's, and those that are imported. */
const taken = new Set(
  (
    'abstract any as async await boolean break case catch class const constructor continue debugger declare default ' +
    'delete do else enum export extends false finally for from function get global globalThis if implements import in ' +
    'infer instanceof interface is keyof let module namespace never new null number object of package private protected ' +
    'public readonly require return set static string super switch symbol this throw true try type typeof undefined ' +
    'unique unknown var void while with yield arguments eval Infinity NaN ' +
    'i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64 v128 bool ' +
    'fail inputBytes inputText outputBytes outputText store load unreachable memory String Uint8Array'
  ).split(' '),
);

function indexText({ exports, imports }: PluginInterface): string {
  const isSample = exports.length === 0;
  const functions = isSample ? sampleInterface.exports : exports;
  const names = localNames(functions);
  const uses = new Set(
    isSample ? ['inputText', 'outputText'] : ['fail', ...exports.flatMap(reader), ...exports.flatMap(writer)],
  );
  const aliases = functions.flatMap(({ name }, at) => (names[at] === name ? [] : [`${names[at]} as ${name}`]));
  return [
    `import { ${[...uses].sort().join(', ')} } from "./extism";\n`,
    ...(imports.length > 0 ? ['// What the host offers is in ./host: import { … } from "./host";\n'] : []),
    ...functions.map((declared, at) => exportText(declared, names[at] as string, isSample)),
    ...(aliases.length > 0 ? [`export { ${aliases.join(', ')} };\n`] : []),
  ].join('\n');
}

/** The name of each function in the file: its export's name, if the language allows it. */
function localNames(functions: readonly TemplateFunction[]): string[] {
  const own = new Set(functions.map(({ name }) => name));
  const others = distinctNames(
    functions.map(({ name }) => `${name}_`),
    new Set([...own, ...taken]),
  );
  return functions.map(({ name }, at) => (taken.has(name) ? (others[at] as string) : name));
}

function reader({ input }: TemplateFunction): string[] {
  return input === undefined ? [] : [input.payload === 'bytes' ? 'inputBytes' : 'inputText'];
}

function writer({ output }: TemplateFunction): string[] {
  return output === undefined ? [] : [output.payload === 'bytes' ? 'outputBytes' : 'outputText'];
}

function exportText(declared: TemplateFunction, localName: string, isSample: boolean): string {
  const exported = localName === declared.name ? 'export ' : '';
  const [read] = reader(declared);
  const body = isSample
    ? ['const name = inputText();', 'return outputText("Hello, " + name + "!");']
    : [
        ...(read === undefined ? [] : [`const input = ${read}();`]),
        answerHint(declared),
        `return fail("${declared.name}() is not written yet.");`,
      ];
  return `${comment(declared)}${exported}function ${localName}(): i32 {\n${body.map((line) => `  ${line}\n`).join('')}}\n`;
}

function answerHint(declared: TemplateFunction): string {
  const [write] = writer(declared);
  return write === undefined ? '// When it is done: return 0;' : `// To answer: return ${write}(…);`;
}

function comment(declared: TemplateFunction): string {
  return `/**\n${commentLines(declared)
    .map((line) => ` * ${line}`.trimEnd())
    .join('\n')}\n */\n`;
}

function hostText(imports: readonly TemplateFunction[]): string {
  const names = localNames(imports);
  const declared = distinctNames(
    imports.map(({ name }) => `host_${name}`),
    new Set([...names, ...taken]),
  );
  const functions = imports.map((entry, at) => importText(entry, names[at] as string, declared[at] as string));
  return [
    '// The functions that the host offers. One that the plugin does not call is not in the module.',
    'import { loadBytes, loadText, storeBytes, storeText } from "./extism";\n',
    ...functions,
  ].join('\n');
}

function importText(entry: TemplateFunction, localName: string, declaredName: string): string {
  const { name, input, output } = entry;
  const type = (side: Side) => (side.payload === 'bytes' ? 'Uint8Array' : 'string');
  const sent = input === undefined ? '' : input.payload === 'bytes' ? 'storeBytes(input)' : 'storeText(input)';
  const call = `${declaredName}(${sent})`;
  const load = output?.payload === 'bytes' ? 'loadBytes' : 'loadText';
  return [
    `@external("extism:host/user", "${name}")`,
    `declare function ${declaredName}(${input === undefined ? '' : 'input: u64'}): ${output === undefined ? 'void' : 'u64'};`,
    '',
    `${comment(entry)}export function ${localName}(${input === undefined ? '' : `input: ${type(input)}`}): ${output === undefined ? 'void' : type(output)} {`,
    output === undefined ? `  ${call};` : `  return ${load}(${call});`,
    '}\n',
  ].join('\n');
}
