// jags_graph MODEL.bug DATA.R... [--init INIT.R] [--names]: the graph that JAGS makes of a model
// and its data, as JSON.
//
// The nodes are the stochastic ones; deterministic nodes, mixtures and aggregates of JAGS are
// substituted away: a parent is a stochastic node that is reached through them, counted once for
// each child.  Constants are nothing.  --names lists every node with its parents.
//
// JAGS compiles the model twice.  With its data it says what is observed, and must initialise.  But
// then it also puts the values of observed indices in place (x[z] with z observed has one parent)
// and takes nodes of equal value for one, so that edges are missing.  Hence the edges are those of
// the second time, when the observations are left out; "edges_given_data" are those of the first.
//
// jags_graph MODEL.bug DATA.R... --logp POINT.R...: the log density at points that give a value to
// every stochastic node, normalising constants included: {"logp": [...]}.  (The jags program can
// only say this to six digits.)
//
// jags_graph MODEL.bug DATA.R... [--init INIT.R] --state N: the values of all stochastic nodes
// after N steps of JAGS's sampler, as a data set in CmdStan's convention (null: not a stochastic
// node), and the log density there: {"point": {...}, "logp": ...}.
//
//     g++ -O1 -I/usr/include/JAGS jags_graph.cc -ljags -ldl
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <Console.h>
#include <graph/Node.h>
#include <graph/StochasticNode.h>
#include <model/BUGSModel.h>
#include <model/NodeArray.h>
#include <util/nainf.h>

using namespace jags;

#ifndef JAGS_MODULES
#define JAGS_MODULES "/usr/lib/x86_64-linux-gnu/JAGS/modules-4"
#endif

static void die(const std::string &what)
{
    std::cerr << "jags_graph: " << what << "\n";
    exit(2);
}

static std::string slurp(const std::string &path)
{
    std::ifstream f(path);
    if (!f) die("cannot open " + path);
    return {std::istreambuf_iterator<char>(f), {}};
}

typedef std::map<std::string, SArray> Table;

// R dumps: name <- number | c(...) | structure(c(...), .Dim = c(...)) | 1:3, and as.integer of
// these.
class Dump
{
    std::string path, text;
    size_t at = 0;

    [[noreturn]] void fail(const std::string &why)
    {
        die(path + ":" + std::to_string(1 + std::count(text.begin(), text.begin() + at, '\n')) +
            ": " + why);
        abort();
    }
    void space()
    {
        for (; at < text.size(); at++) {
            if (text[at] == '#')
                at = std::min(text.find('\n', at), text.size() - 1);
            else if (!isspace((unsigned char)text[at]) && text[at] != ';')
                return;
        }
    }
    bool take(const std::string &word)
    {
        space();
        if (text.compare(at, word.size(), word)) return false;
        at += word.size();
        return true;
    }
    void need(const std::string &word)
    {
        if (!take(word)) fail("expected " + word);
    }
    std::string name()
    {
        space();
        size_t from = at;
        if (at < text.size() && quote(text[at])) {
            char q = text[at++];
            from = at;
            while (at < text.size() && text[at] != q) at++;
            return text.substr(from, at++ - from);
        }
        while (at < text.size() &&
               (isalnum((unsigned char)text[at]) || text[at] == '.' || text[at] == '_'))
            at++;
        if (at == from) fail("expected a name");
        return text.substr(from, at - from);
    }
    static bool quote(char c) { return c && strchr("\"'`", c); }
    double number()
    {
        if (take("NA")) return JAGS_NA;
        const char *p = text.c_str() + at;
        char *end;
        double x = strtod(p, &end);
        if (end == p) fail("expected a number");
        at += end - p;
        if (at < text.size() && text[at] == 'L') at++;
        return x;
    }
    std::vector<double> vector()
    {
        std::vector<double> v;
        if (take("as.integer(") || take("as.numeric(")) {
            v = vector();
            need(")");
        } else if (take("c(")) {
            do {
                std::vector<double> more = vector();
                v.insert(v.end(), more.begin(), more.end());
            } while (take(","));
            need(")");
        } else {
            v.push_back(number());
            if (take(":"))
                for (double to = number(); v.back() < to;) v.push_back(v.back() + 1);
        }
        return v;
    }

  public:
    Dump(const std::string &path) : path(path), text(slurp(path)) {}
    void read(Table &data)
    {
        for (space(); at < text.size(); space()) {
            std::string id = name();
            if (!take("<-")) need("=");
            std::vector<double> v;
            std::vector<unsigned int> dim;
            if (take("structure(")) {
                v = vector();
                need(",");
                need(".Dim");
                need("=");
                for (double d : vector()) dim.push_back((unsigned int)d);
                need(")");
            } else {
                v = vector();
                dim.push_back((unsigned int)v.size());
            }
            SArray a(dim);
            a.setValue(v);
            data.insert({id, a});
        }
    }
};

// A compiled model.
struct Compiled {
    std::ostringstream out, err;
    Console console;
    BUGSModel *model;

    Compiled(const std::string &path, const std::string &text, Table &data, const Table *init)
        : console(out, err)
    {
        FILE *f = fmemopen(const_cast<char *>(text.data()), text.size(), "r");
        Console::setRNGSeed(1);
        bool ok = f && console.checkModel(f) && console.compile(data, 1, true);
        if (ok && init) ok = console.setParameters(*init, 1) && console.initialize();
        if (f) fclose(f);
        if (!ok) die(path + ": " + err.str());
        model = const_cast<BUGSModel *>(console.model());
    }
};

typedef std::set<const Node *> Nodes;

// The stochastic nodes that x hangs on, through everything else; memo holds what is known.
static const Nodes &ancestors(const Node *x, std::map<const Node *, Nodes> &memo)
{
    auto it = memo.find(x);
    if (it != memo.end()) return it->second;
    Nodes out;
    for (const Node *p : x->parents()) {
        if (dynamic_cast<const StochasticNode *>(p)) {
            out.insert(p);
        } else {
            const Nodes &up = ancestors(p, memo);
            out.insert(up.begin(), up.end());
        }
    }
    return memo[x] = out;
}

typedef std::map<std::string, std::set<std::string>> Parents;

static Parents parents(BUGSModel *model)
{
    Parents out;
    std::map<const Node *, Nodes> memo;
    for (StochasticNode *x : model->stochasticNodes()) {
        std::set<std::string> &p = out[model->symtab().getName(x)];
        for (const Node *q : ancestors(x, memo)) p.insert(model->symtab().getName(q));
    }
    return out;
}

static int count(const Parents &p)
{
    int n = 0;
    for (auto &x : p) n += (int)x.second.size();
    return n;
}

static bool constant(const Node *x) { return !dynamic_cast<const StochasticNode *>(x); }

// The data without the values of stochastic nodes.
static Table unobserved(const Table &data, BUGSModel *model)
{
    Table out;
    for (auto &d : data) {
        SArray kept(d.second);
        NodeArray *a = model->symtab().getVariable(d.first);
        if (a) a->getValue(kept, 0, constant);
        if (std::any_of(kept.value().begin(), kept.value().end(),
                        [](double x) { return x != JAGS_NA; }))
            out.insert({d.first, kept});
    }
    return out;
}

// The text of a model without its data { } block, whose results are in the data by then.
static std::string without_data_block(std::string s)
{
    for (size_t i = 0; i < s.size(); i++)
        if (s[i] == '#')
            for (; i < s.size() && s[i] != '\n'; i++) s[i] = ' ';
    size_t at = s.find_first_not_of(" \t\r\n");
    if (at == std::string::npos || s.compare(at, 4, "data") ||
        s.find_first_not_of(" \t\r\n", at + 4) != s.find('{'))
        return s;
    size_t end = s.find('{');
    for (int depth = 0; end < s.size(); end++) {
        depth += (s[end] == '{') - (s[end] == '}');
        if (!depth) break;
    }
    return s.substr(end + 1);
}

static double logp_at(const std::string &path, const std::string &text, Table data)
{
    Compiled all(path, text, data, nullptr);
    double sum = 0;
    for (StochasticNode *x : all.model->stochasticNodes()) {
        if (x->randomVariableStatus() != RV_TRUE_OBSERVED)
            die(path + ": the point has no value for " + all.model->symtab().getName(x));
        sum += x->logDensity(0, PDF_FULL);
    }
    return sum;
}

static bool random_node(const Node *x) { return !constant(x); }

// The names left of a ~.  (JAGS's own table of names does not tell x from y if y <- x.)
static std::set<std::string> random_arrays(const std::string &text)
{
    std::set<std::string> out;
    std::string s = without_data_block(text);
    for (size_t i = s.find('~'); i != std::string::npos; i = s.find('~', i + 1)) {
        size_t end = i;
        while (end && isspace((unsigned char)s[end - 1])) end--;
        if (end && s[end - 1] == ']') {
            int depth = 0;
            do {
                end--;
                depth += (s[end] == ']') - (s[end] == '[');
            } while (end && depth);
            while (end && isspace((unsigned char)s[end - 1])) end--;
        }
        size_t from = end;
        while (from && (isalnum((unsigned char)s[from - 1]) || strchr("._", s[from - 1]))) from--;
        out.insert(s.substr(from, end - from));
    }
    return out;
}

// Nested, row-major; JAGS's arrays are column-major: element 0 of dimension k is `stride` apart.
static void put_array(const std::vector<double> &v, const std::vector<unsigned int> &dim, size_t k,
                      size_t at, size_t stride)
{
    if (k == dim.size()) {
        if (v[at] == JAGS_NA)
            printf("null");
        else
            printf("%.17g", v[at]);
        return;
    }
    printf("[");
    for (unsigned int i = 0; i < dim[k]; i++) {
        printf(i ? ", " : "");
        put_array(v, dim, k + 1, at + i * stride, stride * dim[k]);
    }
    printf("]");
}

// The density is that of the point as data: JAGS does not keep nodes up to date that inform
// nothing.
static void put_state(Compiled &c, const std::string &path, const std::string &text,
                      const Table &data)
{
    Table all = unobserved(data, c.model);
    const char *comma = "";
    printf("{\"point\": {");
    for (const std::string &name : random_arrays(text)) {
        NodeArray *a = c.model->symtab().getVariable(name);
        SArray x(a->range().dim(false));
        a->getValue(x, 0, random_node);
        const std::vector<double> &v = x.value();
        printf("%s\n\"%s\": ", comma, name.c_str());
        comma = ",";
        if (v.size() == 1 && x.dim(false).size() == 1)
            printf("%.17g", v[0]);
        else
            put_array(v, x.dim(false), 0, 0, 1);
        all.erase(name);
        all.insert({name, x});
    }
    printf("\n}, \"logp\": %.17g}\n", logp_at(path, without_data_block(text), all));
}

static void load(const char *name)
{
    std::string path = std::string(JAGS_MODULES) + "/" + name + ".so";
    if (!dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) || !Console::loadModule(name))
        die("cannot load JAGS's module " + path);
}

int main(int argc, char **argv)
{
    bool names = false, points = false;
    int steps = -1;
    std::vector<std::string> files, at;
    Table data, init;
    for (int i = 1; i < argc; i++) {
        if (argv[i] == std::string("--names"))
            names = true;
        else if (argv[i] == std::string("--init") && i + 1 < argc)
            Dump(argv[++i]).read(init);
        else if (argv[i] == std::string("--logp"))
            points = true;
        else if (argv[i] == std::string("--state") && i + 1 < argc)
            steps = atoi(argv[++i]);
        else
            (points ? at : files).push_back(argv[i]);
    }
    if (files.empty())
        die("usage: jags_graph MODEL.bug DATA.R... [--init INIT.R] [--names | --state N | --logp "
            "POINT.R...]");
    load("basemod");
    load("bugs");
    load("mix"); // dbetabin
    load("glm"); // dscaled.gamma, dscaled.wishart
    for (size_t i = 1; i < files.size(); i++) Dump(files[i]).read(data);

    std::string text = slurp(files[0]);
    if (points) {
        const char *comma = "";
        printf("{\"logp\": [");
        for (auto &p : at) {
            Table all = data;
            Dump(p).read(all);
            printf("%s%.17g", comma, logp_at(files[0], text, all));
            comma = ", ";
        }
        printf("]}\n");
        return 0;
    }

    Compiled with(files[0], text, data, &init);
    if (steps >= 0) {
        if (!with.console.update((unsigned int)steps)) die(files[0] + ": " + with.err.str());
        put_state(with, files[0], text, data);
        return 0;
    }
    std::map<unsigned int, int> sizes;
    int nobserved = 0, nunobserved = 0;
    unsigned int observed = 0, unobserved_ = 0;
    for (StochasticNode *x : with.model->stochasticNodes()) {
        bool seen = x->randomVariableStatus() == RV_TRUE_OBSERVED;
        (seen ? nobserved : nunobserved)++;
        (seen ? observed : unobserved_) += x->length();
        sizes[x->length()]++;
    }
    Table fewer = unobserved(data, with.model);
    Compiled without(files[0], without_data_block(text), fewer, nullptr);
    Parents graph = parents(without.model);
    if ((int)graph.size() != nobserved + nunobserved)
        die(files[0] + ": the nodes without observations are not the same");

    printf("{\"observed\": %d, \"unobserved\": %d, \"stochastic\": %d, \"edges\": %d, "
           "\"edges_given_data\": %d, \"observed_scalars\": %u, \"unobserved_scalars\": %u, "
           "\"sizes\": {",
           nobserved, nunobserved, nobserved + nunobserved, count(graph),
           count(parents(with.model)), observed, unobserved_);
    const char *comma = "";
    for (auto &s : sizes) {
        printf("%s\"%u\": %d", comma, s.first, s.second);
        comma = ", ";
    }
    printf("}");
    if (names) {
        printf(", \"parents\": {");
        comma = "";
        for (auto &x : graph) {
            printf("%s\n  \"%s\": [", comma, x.first.c_str());
            comma = "";
            for (auto &p : x.second) {
                printf("%s\"%s\"", comma, p.c_str());
                comma = ", ";
            }
            printf("]");
            comma = ",";
        }
        printf("\n}");
    }
    printf("}\n");
    return 0;
}
