/** Does something with each item, so many at a time. The first that fails ends it, once what is under way has ended. */
export async function several<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values(); // each worker takes the next
  let failed = false;
  const workers = Array.from({ length: atOnce }, async () => {
    for (const item of queue) {
      if (failed) return;
      try {
        await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  });
  const outcomes = await Promise.allSettled(workers);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
