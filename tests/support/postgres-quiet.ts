import pg from 'pg';

/** Questions to Postgres of this process that have no answer yet: a clock by hand must not go on over them. */
let open = 0;

type Asks = (...args: unknown[]) => unknown;

function counted(asks: Asks): Asks {
  return function (this: unknown, ...args) {
    const answer = asks.apply(this, args);
    if (!(answer instanceof Promise)) return answer;
    open += 1;
    const answered = () => {
      open -= 1;
    };
    answer.then(answered, answered);
    return answer;
  };
}

const client = pg.Client.prototype as unknown as { query: Asks; connect: Asks };
const pool = pg.Pool.prototype as unknown as { connect: Asks };
client.query = counted(client.query);
client.connect = counted(client.connect);
pool.connect = counted(pool.connect);

export const isAnswering = () => open > 0;
