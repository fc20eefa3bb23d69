// The pages of docs whose tables repeat texts of the code, and how their rows are written.

/** A row of such a table begins with a name in backquotes. */
const nameRow = /^\| `[\w.-]+` \|.*\n/gm;
const routeRow = /^\| `(?:GET|POST|PUT|PATCH|DELETE) \S+` \|.*\n/gm;

const sectionRow = /^\| `.*` \| (?:kept|rewritten|dropped|refused) \|.*\n/gm;

/** By page: what a row is that the code has the text of. */
export const codeRows = {
  'docs/explanation/rewriting.md': sectionRow,
  'docs/reference/audit.md': nameRow,
  'docs/reference/configuration.md': nameRow,
  'docs/reference/http-api.md': routeRow,
  'docs/reference/metrics.md': nameRow,
};

/** @returns {Promise<Record<keyof typeof codeRows, (page: string) => string>>} by page: a function that returns the page with its rows up to date */
export async function rowsOfCode() {
  const [{ buildOpenApi, metricDefinitions, settings }, { auditActions }, { customSectionRules }] = await Promise.all([
    import('@tenon/server'),
    import('@tenon/protocol'),
    import('../../packages/instrument/src/rewrite/custom-sections.ts'),
  ]);
  const metrics = Object.entries(metricDefinitions).map(([name, { type, labels, help }]) =>
    row(code([name]), type, code(labels), help),
  );
  /** @param {boolean} isOfApp */
  const actions = (isOfApp) =>
    Object.entries(auditActions)
      .filter(([, { trail }]) => (trail === 'app') === isOfApp)
      .map(([action, { phrase, target, details }]) => row(code([action]), phrase, target, code(details)));
  const sections = customSectionRules.map(({ names, treatment, reason }) => row(code(names), treatment, reason));
  return {
    'docs/explanation/rewriting.md': (page) => replaceTables(page, sectionRow, [sections]),
    'docs/reference/audit.md': (page) => replaceTables(page, nameRow, [actions(true), actions(false)]),
    'docs/reference/configuration.md': (page) => describeSettings(page, Object.values(settings)),
    'docs/reference/http-api.md': (page) => {
      const tags = [...page.matchAll(/^## (.+)\n(?:(?!## ).*\n)*?\| route \|/gm)].map(([, tag]) => tag);
      const rows = routeRows(buildOpenApi());
      return replaceTables(
        page,
        routeRow,
        tags.map((tag) => rows.filter((route) => route.tag === tag).map(({ text }) => text)),
      );
    },
    'docs/reference/metrics.md': (page) => replaceTables(page, nameRow, [metrics]),
  };
}

/**
 * The rows of a page whose sections may be named after the variable that their settings are items of.
 *
 * @param {string} page
 * @param {readonly { variable: string, item: string | undefined, description: string }[]} settings
 */
function describeSettings(page, settings) {
  /** @type {string | undefined} */
  let list;
  return page.replaceAll(/^## (?:`(\w+)`)?.*$|^\| `([\w-]+)` \| ([^|]*)\|.*$/gm, (line, heading, name, value) => {
    if (name === undefined) list = heading;
    const setting = settings.find(({ variable, item }) =>
      list === undefined ? variable === name && item === undefined : variable === list && item === name,
    );
    return setting === undefined ? line : `| \`${name}\` | ${value}| ${setting.description} |`;
  });
}

/**
 * @param {object} openApi
 * @returns {{ tag: string | undefined, text: string }[]}
 */
function routeRows(openApi) {
  /** @typedef {{ tags?: string[], summary?: string, description?: string }} Operation */
  const { paths } = /** @type {{ paths: Record<string, Record<string, Operation>> }} */ (openApi);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => ['get', 'post', 'put', 'patch', 'delete'].includes(method))
      .map(([method, { tags, summary, description }]) => {
        const name = path.replaceAll(/\{(\w+)\}/g, (_, id) => `<${id.replaceAll(/[A-Z]/g, '_$&').toLowerCase()}>`);
        const text = [`${summary}.`, ...(description === undefined ? [] : [description])].join(' ');
        return { tag: tags?.[0], text: row(code([`${method.toUpperCase()} ${name}`]), text.replaceAll('|', '\\|')) };
      }),
  );
}

/**
 * Replaces each run of rows, in the order of the page.
 *
 * @param {string} page
 * @param {RegExp} pattern one row
 * @param {string[][]} tables
 */
function replaceTables(page, pattern, tables) {
  let index = 0;
  return page.replaceAll(new RegExp(`(?:${pattern.source})+`, 'gm'), () => (tables[index++] ?? []).join(''));
}

/** @param {string[]} cells */
const row = (...cells) => `| ${cells.join(' | ')} |\n`;

/** @param {readonly string[]} names */
const code = (names) => names.map((name) => `\`${name}\``).join(', ');
