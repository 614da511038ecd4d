export { namesFileOf, writeSimulation } from "./write-simulation.js";
