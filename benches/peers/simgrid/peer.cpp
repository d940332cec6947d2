// A master and its tree of workers in SimGrid: bandwidth-centric scheduling of one bag of tasks.
//
// Reads from standard input: `buffer data work count nodes`, then for each node, parents first, `parent speed bandwidth`
// (the root's parent is -1). Prints the end of the last task, then how many tasks each node computed, then the wall-clock
// seconds that the simulation took.
//
// The rules are those of makespan-sim's network. Each node has two actors: one computes, one sends; both run at the same
// time, and one task is sent at a time. A place that becomes free is asked for at once. The idle processor of a node comes
// before its port, and the port serves the child with the largest bandwidth that has room.
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <simgrid/s4u.hpp>
#include <vector>

namespace s4u = simgrid::s4u;

struct Node {
  int parent = -1;
  double speed = 0, bandwidth = 0;
  s4u::Host* host = nullptr;
  std::vector<int> children; // by falling bandwidth
  long ready = 0;            // tasks here that are not being sent
  int requests = 0;          // of this node, that its parent has not answered
  long computed = 0;
  bool idle = true;
  s4u::MutexPtr mutex = nullptr;
  s4u::ConditionVariablePtr changed = nullptr;
};

static std::vector<Node> nodes;
static double work, data;
static long left;
static double last;

// A place of a node became free, and its parent hears of it.
static void freed(int at) {
  if (nodes[at].parent < 0) return;
  nodes[at].requests++;
  nodes[nodes[at].parent].changed->notify_all();
}

static void compute(int at) {
  Node& node = nodes[at];
  std::unique_lock<s4u::Mutex> lock(*node.mutex);
  while (true) {
    while (node.ready == 0) node.changed->wait(lock);
    node.ready--;
    node.idle = false;
    freed(at);
    lock.unlock();
    s4u::this_actor::execute(work);
    lock.lock();
    node.idle = true;
    node.computed++;
    last = s4u::Engine::get_clock();
    if (--left == 0) {
      s4u::Actor::kill_all();
      return;
    }
  }
}

static int asking(const Node& node) {
  // An idle processor takes the first task.
  if (node.ready - (node.idle ? 1 : 0) <= 0) return -1;
  for (int child : node.children)
    if (nodes[child].requests > 0) return child;
  return -1;
}

static void send(int at) {
  Node& node = nodes[at];
  std::unique_lock<s4u::Mutex> lock(*node.mutex);
  while (true) {
    int child;
    while ((child = asking(node)) < 0) node.changed->wait(lock);
    node.ready--;
    nodes[child].requests--;
    lock.unlock();
    s4u::Comm::sendto(node.host, nodes[child].host, static_cast<uint64_t>(data));
    lock.lock();
    nodes[child].ready++;
    nodes[child].changed->notify_all();
    freed(at);
  }
}

int main(int argc, char** argv) {
  // Transfers take data over bandwidth and nothing else, as in the model of the paper.
  std::vector<std::string> own = {argv[0],
                                  "--cfg=network/model:CM02",
                                  "--cfg=network/TCP-gamma:-1",
                                  "--cfg=network/bandwidth-factor:1",
                                  "--cfg=network/latency-factor:1",
                                  "--cfg=network/weight-S:0",
                                  "--cfg=surf/precision:1e-9",
                                  "--cfg=contexts/stack-size:128",
                                  "--log=root.threshold:error"};
  std::vector<char*> arguments;
  for (auto& text : own) arguments.push_back(text.data());
  int count = static_cast<int>(arguments.size());
  s4u::Engine engine(&count, arguments.data());

  int buffer, size;
  if (!(std::cin >> buffer >> data >> work >> left >> size)) return 2;
  nodes.resize(size);
  auto* zone = s4u::create_full_zone("tree");
  for (int at = 0; at < size; at++) {
    Node& node = nodes[at];
    if (!(std::cin >> node.parent >> node.speed >> node.bandwidth)) return 2;
    node.host = zone->create_host("n" + std::to_string(at), node.speed)->seal();
    node.mutex = s4u::Mutex::create();
    node.changed = s4u::ConditionVariable::create();
    node.requests = node.parent < 0 ? 0 : buffer;
    if (node.parent >= 0) {
      auto* link = zone->create_link("l" + std::to_string(at), node.bandwidth)->set_latency(0)->seal();
      Node& parent = nodes[node.parent];
      zone->add_route(parent.host->get_netpoint(), node.host->get_netpoint(), nullptr, nullptr,
                      {s4u::LinkInRoute(link)}, false);
      // A way back of its own: SimGrid charges acknowledgements of a twentieth to it, which the paper's model has not.
      auto* back = zone->create_link("b" + std::to_string(at), 1e15)->set_latency(0)->seal();
      zone->add_route(node.host->get_netpoint(), parent.host->get_netpoint(), nullptr, nullptr,
                      {s4u::LinkInRoute(back)}, false);
      auto place = parent.children.begin();
      while (place != parent.children.end() && nodes[*place].bandwidth >= node.bandwidth) ++place;
      parent.children.insert(place, at);
    }
  }
  zone->seal();
  nodes[0].ready = left;
  for (int at = 0; at < size; at++) {
    s4u::Actor::create("compute" + std::to_string(at), nodes[at].host, compute, at);
    if (!nodes[at].children.empty())
      s4u::Actor::create("send" + std::to_string(at), nodes[at].host, send, at);
  }
  auto begin = std::chrono::steady_clock::now();
  engine.run();
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%.9f\n", last);
  for (const Node& node : nodes) std::printf("%ld\n", node.computed);
  std::printf("%.6f\n", seconds.count());
  return 0;
}
