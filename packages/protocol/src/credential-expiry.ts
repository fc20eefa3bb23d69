const dayMs = 24 * 60 * 60 * 1000;

/** How long before its end the user is warned of a credential's expiry at most, in milliseconds. */
export const maxExpiryWarningMs = 7 * dayMs;

/** A credential with a shorter lifetime, such as one of a build, gets no warning, in milliseconds. */
export const minWarnedLifetimeMs = dayMs;

/** Of a shorter credential's lifetime, the last so many parts of ten are warned of. */
export const warnedTenths = 3;

/** Whether the user of a credential is warned that it expires. */
export function isExpiryNear(createdAtMs: number, expiresAtMs: number, nowMs: number): boolean {
  const lifetimeMs = expiresAtMs - createdAtMs;
  if (lifetimeMs < minWarnedLifetimeMs) return false;
  return expiresAtMs - nowMs <= Math.min(maxExpiryWarningMs, (lifetimeMs * warnedTenths) / 10);
}
