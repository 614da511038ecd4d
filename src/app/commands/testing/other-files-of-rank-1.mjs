/** Gives rank 1 the source that OTHER_SOURCE names, instead of that of rank 0. */
const rank = process.env.OMPI_COMM_WORLD_RANK ?? process.env.PMI_RANK;
const source = process.argv.indexOf("prepare") + 1;
if (rank === "1") process.argv[source] = String(process.env.OTHER_SOURCE);
