import type { TemplateName } from '../template/template.ts';

/** What a generator knows besides the schema. */
export interface BindingsContext {
  /** The source of the schema, for the header of generated files. */
  readonly source: string | undefined;
  /** The extension point, if the schema is that of one. */
  readonly extensionPoint?: { readonly id: string; readonly name: string } | undefined;
}

/*
 * The emitters are our own: existing generators are bundles for single languages, which are downloaded, run as plugins, and depend on other
 * packages. Generated code contains its library, so that a plugin builds offline. A value that doesn't fit fails the call with the path to it,
 * and without a trap, whose message hosts don't see.
 */

/** Generates files from a valid schema: texts by their paths. */
export type BindingsGenerator = (schema: unknown, context: BindingsContext) => ReadonlyMap<string, string>;

export interface BindingsTarget {
  /** For `--help`. */
  readonly description: string;
  readonly isForPlugins: boolean;
  /** Imports the generator only when it is used. */
  readonly load: () => Promise<BindingsGenerator>;
}

/** What `tenon bindings generate` can generate: typed code for hosts, and for plugins by language. */
export const bindingsTargets: Readonly<Record<string, BindingsTarget>> = {
  host: {
    description: 'TypeScript for applications that call plugins',
    isForPlugins: false,
    load: async () => {
      const { hostClient } = await import('@tenon/extension-schema/host-client');
      return (schema, context) => new Map([['plugins.ts', hostClient(schema, context)]]);
    },
  },
  assemblyscript: plugins('assemblyscript', 'AssemblyScript'),
  c: plugins('c', 'C'),
  cpp: plugins('cpp', 'C++'),
  go: plugins('go', 'Go'),
  rust: plugins('rust', 'Rust'),
  typescript: plugins('typescript', 'TypeScript (extism-js)'),
};

function plugins(language: TemplateName, name: string): BindingsTarget {
  return {
    description: `${name} for plugins`,
    isForPlugins: true,
    load: async () => (await import('../template/template.ts')).loadBindings(language),
  };
}
