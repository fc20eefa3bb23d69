// The pages of docs/reference whose tables repeat texts of the code, and how their rows are written.

/** A row of such a table: its first cell is a name in backquotes. */
export const codeRow = /^\| `[\w.-]+` \|.*\n/gm;

/** The pages with such rows. */
export const pagesWithCodeRows = [
  'docs/reference/audit.md',
  'docs/reference/configuration.md',
  'docs/reference/metrics.md',
];

/** @returns {Promise<Record<string, (page: string) => string>>} by page: a function that returns the page with its rows up to date */
export async function rowsOfCode() {
  const [{ metricDefinitions, settings }, { auditActions }] = await Promise.all([
    import('@tenon/server'),
    import('@tenon/protocol'),
  ]);
  const metrics = Object.entries(metricDefinitions).map(([name, { type, labels, help }]) =>
    row(code([name]), type, code(labels), help),
  );
  /** @param {boolean} isOfApp */
  const actions = (isOfApp) =>
    Object.entries(auditActions)
      .filter(([, { trail }]) => (trail === 'app') === isOfApp)
      .map(([action, { words, target, details }]) => row(code([action]), words, target, code(details)));
  return {
    'docs/reference/metrics.md': (page) => replaceTables(page, [metrics]),
    'docs/reference/audit.md': (page) => replaceTables(page, [actions(true), actions(false)]),
    'docs/reference/configuration.md': (page) => {
      /** @type {string | undefined} */
      let list;
      return page.replaceAll(/^## (?:`(\w+)`)?.*$|^\| `([\w-]+)` \| ([^|]*)\|.*$/gm, (line, heading, name, value) => {
        if (name === undefined) list = heading;
        const setting = Object.values(settings).find(({ variable, item }) =>
          list === undefined ? variable === name && item === undefined : variable === list && item === name,
        );
        return setting === undefined ? line : `| \`${name}\` | ${value}| ${setting.description} |`;
      });
    },
  };
}

/**
 * Replaces each run of rows, in the order of the page.
 *
 * @param {string} page
 * @param {string[][]} tables
 */
function replaceTables(page, tables) {
  let index = 0;
  return page.replaceAll(/(?:^\| `[\w.-]+` \|.*\n)+/gm, () => (tables[index++] ?? []).join(''));
}

/** @param {string[]} cells */
const row = (...cells) => `| ${cells.join(' | ')} |\n`;

/** @param {readonly string[]} names */
const code = (names) => names.map((name) => `\`${name}\``).join(', ');
