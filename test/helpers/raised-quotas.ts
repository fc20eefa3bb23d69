/** `TENON_QUOTAS` for tests and benchmarks that make more than an account may. */
export const raisedQuotas = [
  'applications=1000000',
  'tokens=1000000',
  'api-keys=1000000',
  'account-bytes=1000GiB',
  'app-bytes=1000GiB',
  'plugins=10000000',
  'versions=10000000',
  'guests=10000000',
  'webhooks=1000000',
  'publish-burst=10000000',
  'simulations-per-day=10000000',
  'app-simulations-per-day=10000000',
].join(',');
