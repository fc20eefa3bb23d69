// Which known vulnerabilities fail `npm run audit`.

/** @typedef {{ name: string, severity: string, title: string, url: string, range: string }} Advisory */
/** @typedef {{ vulnerabilities?: Record<string, { via: (string | Advisory)[], fixAvailable: boolean | object }> }} AuditReport
 *   what `npm audit --json` prints */
/** @typedef {{ id: string, until: string, reason: string }} Exception an advisory's id (GHSA-…), and the last day, as YYYY-MM-DD */
/** @typedef {{ id: string, name: string, severity: string, range: string, title: string }} Finding */

/**
 * Splits a report by what has to be done. An advisory whose range has no upper end has no fixed version.
 *
 * @param {AuditReport} report
 * @param {readonly Exception[]} exceptions
 * @param {string} today as YYYY-MM-DD
 * @returns {{ failing: Finding[], allowed: Finding[], others: number }}
 */
export function auditFindings(report, exceptions, today) {
  /** @type {Map<string, Finding>} */
  const serious = new Map();
  let others = 0;
  for (const { via } of Object.values(report.vulnerabilities ?? {})) {
    for (const advisory of via) {
      if (typeof advisory === 'string') continue; // a package that only depends on a vulnerable one
      const { name, severity, range, title, url } = advisory;
      const id = url.slice(url.lastIndexOf('/') + 1);
      const isFixed = range.split('||').every((part) => part.includes('<') || /^\s*=?\s*\d/.test(part));
      if (isFixed && (severity === 'high' || severity === 'critical')) {
        serious.set(`${id} ${name}`, { id, name, severity, range, title });
      } else {
        others += 1;
      }
    }
  }
  const findings = [...serious.values()];
  /** @param {Finding} finding */
  const isAllowed = ({ id }) => exceptions.some((exception) => exception.id === id && today <= exception.until);
  return {
    failing: findings.filter((finding) => !isAllowed(finding)),
    allowed: findings.filter(isAllowed),
    others,
  };
}

/**
 * @param {readonly Exception[]} exceptions
 * @param {string} today as YYYY-MM-DD
 */
export function expiredExceptions(exceptions, today) {
  return exceptions.filter(({ until }) => today > until);
}
