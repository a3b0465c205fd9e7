/**
 * Holds responses until the end of the event-loop turn if the turn before had more than one. They leave together, after all
 * requests of the turn were read: a client is woken once, and its next requests arrive together.
 *
 * @returns Called once for each response: undefined if it leaves at once, or a promise that resolves at the end of this turn.
 */
export function createTurn(): () => Promise<void> | undefined {
  let responses = 0;
  let responsesBefore = 0;
  let end = Promise.withResolvers<void>();
  function endTurn(): void {
    responsesBefore = responses;
    responses = 0;
    const { resolve } = end;
    end = Promise.withResolvers();
    resolve();
  }
  return () => {
    responses += 1;
    if (responses === 1) setImmediate(endTurn);
    return responsesBefore > 1 ? end.promise : undefined;
  };
}
