import {
  commentLines,
  distinctNames,
  type PluginInterface,
  sampleInterface,
  type TemplateFunction,
} from './plugin-interface.ts';

/** The C that is made for an extension point: a stub for each export, and the host's functions. */
export function cFiles(plugin: PluginInterface): Map<string, string> {
  const files = new Map([['src/plugin.c', pluginText(plugin)]]);
  if (plugin.imports.length > 0) files.set('src/host.h', hostText(plugin.imports));
  return files;
}

/** A function's name in C. Its prefix keeps it apart from the language's words and the compiler's own functions. */
function localNames(functions: readonly TemplateFunction[], prefix: string): string[] {
  return distinctNames(
    functions.map(({ name }) => `${prefix}${name.replaceAll('$', '_')}`),
    new Set(),
  );
}

function pluginText({ exports, imports }: PluginInterface): string {
  const isSample = exports.length === 0;
  const functions = isSample ? sampleInterface.exports : exports;
  const names = localNames(functions, 'plugin_');
  const includes = ['#include "extism.h"\n', ...(imports.length > 0 ? ['#include "host.h"\n'] : [])].join('');
  return [includes, ...functions.map((entry, at) => exportText(entry, names[at] as string, isSample))].join('\n');
}

function exportText(declared: TemplateFunction, localName: string, isSample: boolean): string {
  const { name, input, output } = declared;
  const answer = output === undefined ? 'When it is done: return 0;' : 'To answer: return output(…);';
  const body = isSample
    ? ['begin_call();', 'struct bytes name = input();', 'return output(join(join(text("Hello, "), name), text("!")));']
    : [
        'begin_call();',
        ...(input === undefined ? [] : ['struct bytes given = input();', '(void)given;']),
        `/* ${answer} */`,
        `return fail("${name}() is not written yet.");`,
      ];
  return `${comment(declared)}EXPORT("${name}") int32_t ${localName}(void) {\n${body.map((line) => `  ${line}\n`).join('')}}\n`;
}

function hostText(imports: readonly TemplateFunction[]): string {
  const names = localNames(imports, 'host_');
  const functions = imports.map((entry, at) => {
    const { name, input, output } = entry;
    const result = output === undefined ? 'void' : 'uint64_t';
    return `${comment(entry)}HOST_IMPORT("${name}") ${result} ${names[at]}(${input === undefined ? 'void' : 'uint64_t input'});\n`;
  });
  return [
    '/* The functions that the host offers. One that the plugin does not call is not in the module. They take and give the',
    ' * offsets of blocks: load(host_x(store(text("…")))). */',
    '#pragma once\n',
    '#include "extism.h"\n',
    ...functions,
  ].join('\n');
}

function comment(declared: TemplateFunction): string {
  const [first = '', ...others] = commentLines(declared);
  return `/* ${[first, ...others.map((line) => ` * ${line}`.trimEnd())].join('\n')} */\n`;
}
