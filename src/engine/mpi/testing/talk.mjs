// One process of a job: makes every call of a communicator, and rank 0 prints what came of it.
import { createHash } from "node:crypto";
import { allGathered, anyRank, shared } from "../../../../dist/base/communicator.js";
import { openCommunicator } from "../../../../dist/engine/mpi/index.js";

const job = await openCommunicator();
const { rank, size } = job;

// Values of many magnitudes, so that the order of additions shows.
const floats = Float32Array.from(
	{ length: 1003 },
	(_, i) => Math.sin(i + 7 * rank) * 10 ** (i % 9),
);
const doubles = Float64Array.of(0.1 * (rank + 1), rank);
job.sum(floats);
job.sum(doubles);
const sent = rank === 0 ? Float64Array.of(1, 2, 3) : new Float64Array(3);
job.broadcast(sent);
const bytes = job.gather(new Uint8Array(rank * 3).fill(rank + 1));
const said = await shared(job, () => ({ from: rank }));
job.barrier();
const each = allGathered(job, {
	...{ rank, local: job.localRank, of: job.localSize, said, sent: [...sent] },
	...{ none: anyRank(job, false), last: anyRank(job, rank === size - 1) },
	...{ doubles: [...doubles], hash: createHash("sha256").update(floats).digest("hex") },
});
if (rank === 0)
	console.log(JSON.stringify({ size, each, gathered: bytes?.map((own) => [...own]) }));
job.close();
